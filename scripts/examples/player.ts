import type { Route } from "../../src/rest/kit/routes.js"
import { routeTable } from "../../src/rest/table.js"
import { until } from "../../test/kit/wait.js"

/** A request of a route, with values of the demo. */
export interface Asked {
  /** The values of the path's parameters, in their order. */
  ids?: string[]
  query?: Record<string, string>
  body?: object
  /** The name and the content of the file of a multipart body. */
  file?: [name: string, content: string]
  /** Other headers than those of the credential. */
  headers?: Record<string, string>
}

/** A request that a server answered. */
export interface Recorded extends Pick<Asked, "query" | "body"> {
  /** The values of the path's parameters by name. */
  path?: Record<string, string>
  /** Name of the file of a multipart body. */
  file?: string
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
  answer: any
}

/** What a server answered: to a request of each route, by method and path, and the bodies of errors by status. */
export interface Recording {
  routes: Record<string, Recorded>
  errors: Record<string, unknown>
}

/** The headers of a credential: nobody's, a user's or an access token's. */
export type Caller = Record<string, string>

const routeOf = (name: string): Route => {
  const found = routeTable.find(({ method, path }) => `${method} ${path}` === name)
  if (!found) throw new Error(`There is no route ${name}`)
  return found
}

/** Sends requests to a server and keeps those that it answered. */
export class Player {
  readonly recording: Recording = { routes: {}, errors: {} }

  constructor(
    readonly url: string,
    /** Called before each request, to move the clock of the server. */
    private readonly onRequest: () => void,
  ) {}

  /** Sends a request of a route, keeps it with its answer, and returns the answer; throws when it does not succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
  async ask(name: string, caller: Caller, asked: Asked = {}): Promise<any> {
    this.onRequest()
    return this.#kept(name, caller, asked)
  }

  /** Sends a request until its answer says that something has come about, and keeps the last answer. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
  async askUntil(what: string, name: string, caller: Caller, asked: Asked, holds: (answer: any) => boolean): Promise<any> {
    // The clock does not move, so that what is waited for happens at the same time in each recording.
    return until(what, async () => {
      const answer = await this.#kept(name, caller, asked)
      return holds(answer) ? answer : null
    })
  }

  /** Sends a request that the server refuses, and keeps the body of its error; throws when the status is another. */
  async refused(expected: number, name: string, caller: Caller, asked: Asked = {}): Promise<void> {
    this.onRequest()
    const { status, answer } = await this.#send(name, caller, asked)
    if (status !== expected) throw new Error(`${name} was answered with ${status} in place of ${expected}: ${JSON.stringify(answer)}`)
    this.recording.errors[status] = answer
  }

  async #kept(name: string, caller: Caller, asked: Asked) {
    const { status, answer } = await this.#send(name, caller, asked)
    if (status >= 300) throw new Error(`${name} was answered with ${status}: ${JSON.stringify(answer)}`)
    const names = [...routeOf(name).path.matchAll(/\{(\w+)\}/g)].map(([, each]) => each!)
    const { ids = [], query, body, file } = asked
    const path = ids.length > 0 ? Object.fromEntries(names.map((each, index) => [each, ids[index]!])) : undefined
    this.recording.routes[name] = {
      ...(path && { path }),
      ...(query && { query }),
      ...(body && { body }),
      ...(file && { file: file[0] }),
      status,
      answer,
    }
    return answer
  }

  async #send(name: string, caller: Caller, { ids = [], query, body, file, headers }: Asked) {
    const { method, path } = routeOf(name)
    const left = [...ids]
    const address = path.replace(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ""))
    const search = query ? `?${new URLSearchParams(query)}` : ""
    const response = await fetch(this.url + address + search, {
      method,
      headers: { ...caller, ...(body && { "Content-Type": "application/json" }), ...headers },
      body: file ? formOf(file) : body ? JSON.stringify(body) : null,
    })
    return { status: response.status, answer: await response.json() }
  }
}

function formOf([name, content]: [string, string]) {
  const form = new FormData()
  form.set("file", new File([content], name, { type: "text/plain" }))
  return form
}
