import { AsyncLocalStorage } from "node:async_hooks"
import type { Context, Middleware } from "koa"
import type { Logger } from "pino"
import { v7 } from "uuid"
import { admit, beginOperation } from "../context/admission.js"
import type { OperationReads } from "../context/read-budget.js"
import { RequestContext, type RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { BadUserInput, describe, toRestBody } from "../errors/errors.js"
import { SampledLog } from "../observability/sampled-log.js"
import { httpLimits } from "./limits.js"

/** The current request, for code that has no parameter for it. */
export const currentRequest = new AsyncLocalStorage<RequestInfo>()

/** Paths of the API; their answers hold data of a credential, which no cache may keep (contract, section 1). The router ignores case. */
const apiPath = /^\/(api|graphql|mcp)(\/|$)/i

const saneRequestId = new RegExp(`^[\\x21-\\x7e]{1,${httpLimits.requestIdCharacters}}$`)

/** Facts of a request; its child logger is created on first use. */
class Request implements RequestInfo {
  readonly headers: Record<string, string> = {}
  attemptCounted?: boolean
  reads?: OperationReads
  writtenUpTo?: RequestInfo["writtenUpTo"]
  hasWritten?: boolean
  #log?: Logger

  constructor(
    readonly requestId: string,
    private readonly base: Logger,
    /** For what every request may log while a service is away. */
    readonly sampled: SampledLog,
    readonly address: string,
  ) {}

  get log() {
    this.#log ??= this.base.child({ requestId: this.requestId })
    return this.#log
  }
}

/** Assigns every request its ID, forbids caches to keep answers of the API, and converts thrown errors to the contract's error body. */
export function requestMiddleware(log: Logger): Middleware {
  const sampled = new SampledLog(log)
  return async (ctx, next) => {
    const given = ctx.get("X-Request-Id")
    const requestId = saneRequestId.test(given) ? given : v7()
    const request = new Request(requestId, log, sampled, ctx.ip)
    ctx.state["request"] = request
    ctx.set("X-Request-Id", requestId)
    // Documents and pages below these paths replace it.
    if (apiPath.test(ctx.path)) ctx.set("Cache-Control", "no-store")
    try {
      if (ctx.req.headers.host === undefined && ctx.req.httpVersion !== "1.0") throw new BadUserInput("Send the header Host")
      await currentRequest.run(request, next)
    } catch (error) {
      refuse(ctx, error)
      ctx.body = toRestBody(error, requestId)
    } finally {
      ctx.set(request.headers)
      // A client that does not read it would keep it in memory for ever.
      if (Buffer.isBuffer(ctx.body) && ctx.body.length > httpLimits.largeResponseBytes) ctx.res.setTimeout(httpLimits.unreadResponseMs)
    }
  }
}

/** Sets status and headers of an error response, and logs an unexpected fault. */
export function refuse(ctx: Context, error: unknown) {
  const { statusCode, headers, unexpected } = describe(error)
  const { log, sampled, requestId }: Request = ctx.state["request"]
  if (unexpected) log.error({ err: error, method: ctx.method, path: ctx.path }, "request failed")
  else if (statusCode === 503)
    sampled.line("warn", "request refused: a service does not answer", { requestId, reason: (error as Error).message, path: ctx.path })
  ctx.status = statusCode
  ctx.set(headers as Record<string, string>)
}

/** Authenticates requests, applies the rate limit, waits for their turn, which ends with the response, and creates their request contexts. */
export class RequestContexts {
  constructor(private readonly services: Services) {}

  /** The context of a request; throws 401 for bad credentials and 429 beyond the limit. */
  async contextOf(ctx: Context): Promise<RequestContext> {
    const request: RequestInfo = ctx.state["request"]
    const credentials = { accessToken: ctx.get("X-Access-Token"), authorization: ctx.get("Authorization") }
    const identity = await admit(this.services, credentials, request)
    if (identity.kind === "user" || identity.kind === "token") request.writtenUpTo = identity.writtenUpTo
    const { reads, end } = await beginOperation(this.services, identity, request.address)
    request.reads = reads
    if (ctx.res.closed) end()
    else ctx.res.once("close", end)
    return new RequestContext(this.services, identity, request)
  }
}
