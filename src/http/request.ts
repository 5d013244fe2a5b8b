import { AsyncLocalStorage } from "node:async_hooks"
import type { Context, Middleware } from "koa"
import type { Logger } from "pino"
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible"
import { v7 } from "uuid"
import { authenticate } from "../context/authenticate.js"
import { credentialOf } from "../context/identity.js"
import { RequestContext, type RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { limitHeaders } from "../context/sign-in-limit.js"
import { describe, RateLimited, toRestBody } from "../errors.js"
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
  readonly #limiter: RateLimiterMemory | null

  constructor(private readonly services: Services) {
    const { rateLimitPerMinute } = services.config
    // Counted in the process: a counter in the database would be one hot row per token.
    this.#limiter = rateLimitPerMinute > 0 ? new RateLimiterMemory({ points: rateLimitPerMinute, duration: 60 }) : null
  }

  /** The context of a request; throws 401 for bad credentials and 429 beyond the limit. */
  async contextOf(ctx: Context): Promise<RequestContext> {
    const identity = await authenticate(this.services, { accessToken: ctx.get("X-Access-Token"), authorization: ctx.get("Authorization") })
    const credential = credentialOf(identity)
    if (credential && this.#limiter) await this.count(ctx, this.#limiter, credential)
    return new RequestContext(this.services, identity, ctx.state["request"])
  }

  private async count(ctx: Context, limiter: RateLimiterMemory, credential: string) {
    try {
      const { remainingPoints, msBeforeNext } = await limiter.consume(credential)
      ctx.set(limitHeaders(limiter.points, remainingPoints, msBeforeNext))
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      ctx.set(limitHeaders(limiter.points, 0, refused.msBeforeNext))
      throw new RateLimited(refused.msBeforeNext / 1000)
    }
  }
}
