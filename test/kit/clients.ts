import { Agent } from "node:http"
import type { Duplex } from "node:stream"
import supertest, { type Test } from "supertest"
import type { FitsOpenApi } from "./openapi.js"
import { happens } from "./wait.js"

/** An access token, a JWT, headers as they are, or nothing. */
export type Credential = string | Record<string, string> | null

/** A server closes a connection that is idle for five seconds. */
const freshMs = 1_000

/**
 * Keeps connections open, as clients do: a connection for each request is a fifth of its CPU. One that is idle for long is not used again: after
 * a stall of this process the server's timer may be due, and would close it while a request is on its way.
 */
class FreshAgent extends Agent {
  readonly #idleSince = new WeakMap<Duplex, number>()

  override keepSocketAlive(socket: Duplex) {
    this.#idleSince.set(socket, performance.now())
    return super.keepSocketAlive(socket)
  }

  /** Closes what is idle for long; called before each request. */
  closeIdle() {
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? []))
      if (performance.now() - this.#idleSince.get(socket)! > freshMs) socket.destroy()
  }
}

const agent = new FreshAgent({ keepAlive: true })

/** The headers that carry a credential. */
export function headersOf(credential: Credential): Record<string, string> {
  if (credential === null) return {}
  if (typeof credential !== "string") return credential
  return credential.startsWith("amp_") ? { "X-Access-Token": credential } : { Authorization: `Bearer ${credential}` }
}

/** The methods of the REST client. */
export type Method = "get" | "post" | "put" | "patch" | "delete" | "head"

/**
 * The REST client: supertest with credentials; it checks every response against the OpenAPI document.
 * @example await rest.as(acme.token).get("/api/chats").expect(200)
 */
export function makeRest(url: () => string, fits: FitsOpenApi) {
  const ask = (method: Method, path: string, credential: Credential): Test => {
    const test = limited(supertest(url())[method](path).agent(agent).set(headersOf(credential)), `${method} ${path}`)
    return path.startsWith("/api/") ? test.expect((response) => fits(method, path, response)) : test
  }
  const as = (credential: Credential) => ({
    ask: (method: Method, path: string) => ask(method, path, credential),
    get: (path: string) => ask("get", path, credential),
    post: (path: string, body?: unknown) => ask("post", path, credential).send(body as object),
    put: (path: string, body?: unknown) => ask("put", path, credential).send(body as object),
    patch: (path: string, body?: unknown) => ask("patch", path, credential).send(body as object),
    delete: (path: string) => ask("delete", path, credential),
  })
  return { as, anonymous: as(null) }
}

/** A request that fails when no response comes, as every wait does. */
function limited(test: Test, name: string): Test {
  const then = test.then.bind(test)
  const sent = ((...given) => {
    agent.closeIdle()
    return happens(`${name} is answered`, { then }).then(...given)
  }) as typeof then
  // biome-ignore lint/suspicious/noThenProperty: a request of supertest is sent when it is awaited.
  return Object.assign(test, { then: sent })
}

/** A response of GraphQL over HTTP. */
export interface GqlAnswer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
  data: any
  // biome-ignore lint/suspicious/noExplicitAny: as GraphQL has them.
  errors?: { message: string; path?: (string | number)[]; extensions: any }[]
}

/** The GraphQL client: `await gql(acme.token, "query { … }", { … })`. */
export const makeGql =
  (url: () => string) =>
  async (credential: Credential, query: string, variables: Record<string, unknown> = {}): Promise<GqlAnswer> => {
    const request = supertest(url()).post("/graphql").agent(agent).set(headersOf(credential))
    const { status, headers, body } = await limited(request.send({ query, variables }), `the operation ${query.slice(0, 200)}`)
    return { status, headers, data: body.data, errors: body.errors }
  }
