import type { Credential } from "./clients.js"
import { unsigned } from "./files.js"
import { type ApiClient, type ApiRequest, type ApiResponse, protocols } from "./graphql-client.js"
import type { World } from "./world.js"

/**
 * A REST client that sends each read and each refused request over GraphQL too, and expects the same response. The responses of
 * successful changes are compared for each route in contract.test.ts.
 * @example const w = world(); const rest = bothProtocols(w)
 */
export function bothProtocols(world: World): ApiClient {
  const [rest, graphql] = protocols.map(([, clientOf]) => clientOf(world)) as [ApiClient, ApiClient]
  return {
    as(credential) {
      const ask = (method: Method, path: string, body?: unknown) =>
        new RequestToBoth(requestOf(rest, credential, method, path, body), requestOf(graphql, credential, method, path, body), method)
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

const requestOf = (client: ApiClient, credential: Credential, method: Method, path: string, body: unknown) =>
  client.as(credential)[method as "post"](path, body)

class RequestToBoth implements ApiRequest {
  constructor(
    private readonly rest: ApiRequest,
    private readonly graphql: ApiRequest,
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
  then<A, B>(
    whenDone?: ((answer: ApiResponse) => A | PromiseLike<A>) | null,
    whenFailed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ) {
    return this.ask().then(whenDone, whenFailed)
  }

  private async ask(): Promise<ApiResponse> {
    const shown = await this.rest
    if (this.method === "get" || shown.status >= 400) expect(comparable(await this.graphql)).toEqual(comparable(shown))
    return shown
  }
}

/** A response without values that differ each time. Messages of bad input differ between the protocols; the fields must be the same. */
function comparable({ status, body }: ApiResponse) {
  const { requestId: _once, ...rest } = unsigned(body)
  if (status !== 400) return { status, body: rest }
  const { message: _words, details, ...same } = rest
  const fields = details.map(({ path }: { path: string }) => path.replace(/^input\./, ""))
  return { status, body: { ...same, fields: [...new Set(fields)] } }
}
