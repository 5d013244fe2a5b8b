import { AsyncLocalStorage } from "node:async_hooks"
import type { Context, Middleware } from "koa"
import type { Logger } from "pino"
import { v7 } from "uuid"
import { authenticate } from "../context/authenticate.js"
import { credentialOf } from "../context/identity.js"
import { addressKey } from "../context/rate-limit.js"
import { RequestContext, type RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { describe, toRestBody, Unauthenticated } from "../errors.js"
import { httpLimits } from "./limits.js"

/** The current request, for code that has no parameter for it. */
export const currentRequest = new AsyncLocalStorage<RequestInfo>()

/** Paths of the API; their answers hold data of a credential, which no cache may keep (contract, section 1). The router ignores case. */
const apiPath = /^\/(api|graphql)(\/|$)/i

const saneRequestId = new RegExp(`^[\\x21-\\x7e]{1,${httpLimits.requestIdCharacters}}$`)

/** Facts of a request; its child logger is created on first use. */
class Request implements RequestInfo {
  readonly headers: Record<string, string> = {}
  attemptCounted?: boolean
  #log?: Logger

  constructor(
    readonly requestId: string,
    private readonly base: Logger,
    readonly address: string,
  ) {}

  get log() {
    this.#log ??= this.base.child({ requestId: this.requestId })
    return this.#log
  }
}

/** Assigns every request its ID, forbids caches to keep answers of the API, and converts thrown errors to the contract's error body. */
export function requestMiddleware(log: Logger): Middleware {
  return async (ctx, next) => {
    const given = ctx.get("X-Request-Id")
    const requestId = saneRequestId.test(given) ? given : v7()
    const request = new Request(requestId, log, ctx.ip)
    ctx.state["request"] = request
    ctx.set("X-Request-Id", requestId)
    // Documents and pages below these paths replace it.
    if (apiPath.test(ctx.path)) ctx.set("Cache-Control", "no-store")
    try {
      await currentRequest.run(request, next)
    } catch (error) {
      refuse(ctx, error)
      ctx.body = toRestBody(error, requestId)
    } finally {
      ctx.set(request.headers)
    }
  }
}

/** Sets status and headers of an error response, and logs an unexpected fault. */
export function refuse(ctx: Context, error: unknown) {
  const { statusCode, headers, unexpected } = describe(error)
  const { log }: RequestInfo = ctx.state["request"]
  if (unexpected) log.error({ err: error, method: ctx.method, path: ctx.path }, "request failed")
  else if (statusCode === 503) log.warn({ reason: (error as Error).message, path: ctx.path }, "request refused: a service does not answer")
  ctx.status = statusCode
  ctx.set(headers as Record<string, string>)
}

/** Authenticates requests, applies the rate limit, and creates their request contexts. */
export class RequestContexts {
  constructor(private readonly services: Services) {}

  /** The context of a request; throws 401 for bad credentials and 429 beyond the limit. */
  async contextOf(ctx: Context): Promise<RequestContext> {
    const { limits } = this.services
    const request: RequestInfo = ctx.state["request"]
    const identity = await this.identityOf(ctx, request)
    const credential = credentialOf(identity)
    if (credential) await limits.credential.count(credential, request.headers)
    else await limits.address.count(addressKey(request.address), request.headers)
    return new RequestContext(this.services, identity, request)
  }

  private async identityOf(ctx: Context, { address, headers }: RequestInfo) {
    try {
      return await authenticate(this.services, { accessToken: ctx.get("X-Access-Token"), authorization: ctx.get("Authorization") })
    } catch (error) {
      // Counted like none: otherwise a stranger would avoid the limit with credentials of no one.
      if (error instanceof Unauthenticated) await this.services.limits.address.count(addressKey(address), headers)
      throw error
    }
  }
}
