import type { Credential } from "./doors.js"
import { unsigned } from "./files.js"
import { type Answer, type Asked, type Door, doors } from "./graphql-door.js"
import type { World } from "./world.js"

/**
 * The door of a story: REST, and whatever changes nothing, which is a read or what was refused, is asked of GraphQL too, and has to be
 * answered the same. What a change answers when it is made is compared for each route, in contract.test.ts.
 * @example const w = world(); const rest = bothDoors(w)
 */
export function bothDoors(world: World): Door {
  const [rest, graphql] = doors.map(([, door]) => door(world)) as [Door, Door]
  return {
    as(credential) {
      const ask = (method: Method, path: string, body?: unknown) =>
        new AskedOfBoth(requestOf(rest, credential, method, path, body), requestOf(graphql, credential, method, path, body), method)
      return {
        get: (path) => ask("get", path),
        post: (path, body) => ask("post", path, body),
        put: (path, body) => ask("put", path, body),
        patch: (path, body) => ask("patch", path, body),
        delete: (path) => ask("delete", path),
      }
    },
  }
}

type Method = "get" | "post" | "put" | "patch" | "delete"

const requestOf = (door: Door, credential: Credential, method: Method, path: string, body: unknown) =>
  door.as(credential)[method as "post"](path, body)

class AskedOfBoth implements Asked {
  constructor(
    private readonly rest: Asked,
    private readonly graphql: Asked,
    private readonly method: Method,
  ) {}

  expect(status: number, body?: unknown) {
    if (body === undefined) this.rest.expect(status)
    else this.rest.expect(status, body)
    return this
  }

  set(header: string, value: string) {
    this.rest.set(header, value)
    this.graphql.set(header, value)
    return this
  }

  // biome-ignore lint/suspicious/noThenProperty: supertest's requests are awaited as they are.
  then<A, B>(whenDone?: ((answer: Answer) => A | PromiseLike<A>) | null, whenFailed?: ((error: unknown) => B | PromiseLike<B>) | null) {
    return this.ask().then(whenDone, whenFailed)
  }

  private async ask(): Promise<Answer> {
    const shown = await this.rest
    if (this.method === "get" || shown.status >= 400) expect(comparable(await this.graphql)).toEqual(comparable(shown))
    return shown
  }
}

/** An answer without what is of the moment. A bad input is told in each protocol's own words, about the same field. */
function comparable({ status, body }: Answer) {
  const { requestId: _once, ...rest } = unsigned(body)
  if (status !== 400) return { status, body: rest }
  const { message: _words, details, ...same } = rest
  const fields = details.map(({ path }: { path: string }) => path.replace(/^input\./, ""))
  return { status, body: { ...same, fields: [...new Set(fields)] } }
}
