import { isDeepStrictEqual } from "node:util"
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
    const requests = () => clients.map((client) => client.as(credential)[method as "post"](path, body)) as [ApiRequest, ApiRequest]
    return new RequestToBoth(requests, method)
  })
}

/** How often both protocols are read before a difference between them counts: background work may change the object between two reads. */
const READS = 3

class RequestToBoth extends PendingRequest {
  private readonly rest: ApiRequest
  private readonly graphql: ApiRequest

  constructor(
    private readonly requests: () => [rest: ApiRequest, graphql: ApiRequest],
    private readonly method: Method,
  ) {
    super()
    ;[this.rest, this.graphql] = requests()
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
    if (this.method !== "get" && shown.status < 400) return shown
    let pair = [shown, await this.graphql]
    // A message that is delivered between two reads of it differs in them.
    for (let reads = 1; reads < READS && this.method === "get" && !isDeepStrictEqual(...compared(pair)); reads++)
      pair = await Promise.all(this.requests())
    const [overRest, overGraphql] = compared(pair)
    expect(overGraphql).toEqual(overRest)
    return pair[0]!
  }
}

const compared = (pair: ApiResponse[]) => pair.map(comparable) as [unknown, unknown]

/** A response without values that differ each time. Messages of bad input differ between the protocols; the fields must be the same. */
function comparable({ status, body }: ApiResponse) {
  const { requestId: _once, ...rest } = unsigned(body)
  if (status !== 400) return { status, body: rest }
  const { message: _words, details, ...same } = rest
  const fields = details.map(({ path }: { path: string }) => path.replace(/^input\./, ""))
  return { status, body: { ...same, fields: [...new Set(fields)] } }
}
