import type { Method } from "./clients.js"
import { unsigned } from "./files.js"
import { type ApiClient, type ApiRequest, type ApiResponse, clientWith, PendingRequest, protocols } from "./graphql-client.js"
import type { World } from "./world.js"

/**
 * A REST client that sends each read and each refused request over GraphQL too, and expects the same response. The responses of
 * successful changes are compared for each route in contract.test.ts.
 * @example const w = world(); const rest = bothProtocols(w)
 */
export function bothProtocols(world: World): ApiClient {
  const clients = protocols.map(([, clientOf]) => clientOf(world))
  return clientWith((credential, method, path, body) => {
    const [rest, graphql] = clients.map((client) => client.as(credential)[method as "post"](path, body))
    return new RequestToBoth(rest!, graphql!, method)
  })
}

class RequestToBoth extends PendingRequest {
  constructor(
    private readonly rest: ApiRequest,
    private readonly graphql: ApiRequest,
    private readonly method: Method,
  ) {
    super()
  }

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

  protected async send(): Promise<ApiResponse> {
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
