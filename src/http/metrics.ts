import { timingSafeEqual } from "node:crypto"
import Router, { type RouterContext } from "@koa/router"
import ipaddr from "ipaddr.js"
import type { Context, Middleware } from "koa"
import type { Logger } from "pino"
import { Registry } from "prom-client"
import type { RequestInfo } from "../context/request-context.js"
import { looksLikeToken } from "../entities/access-token.js"
import { entityLimits } from "../entities/limits.js"
import { Forbidden, Unauthenticated } from "../errors/errors.js"
import type { Metrics } from "../observability/metrics.js"
import { describeSpan, isTracing, tracedRequest } from "../observability/tracing.js"

/** Measures every HTTP request under its matched route, logs it at the given level, and gives it a span when tracing is on. */
export function observeRequests(metrics: Metrics, log: Logger, level: "info" | "debug"): Middleware {
  return async (ctx, next) => {
    const begin = performance.now()
    const finish = () => {
      const route = routeOf(ctx)
      const ms = performance.now() - begin
      metrics.requestEnded(ctx.method, route, ctx.status, ms)
      if (log.isLevelEnabled(level)) log[level](lineOf(ctx, route, ms), "request")
      describeSpan(`${ctx.method} ${route}`, { "http.route": route, "http.response.status_code": ctx.status })
    }
    if (!isTracing()) return next().finally(finish)
    return tracedRequest(ctx.headers, ctx.method, () => next().finally(finish))
  }
}

/** The line of a request; of its credential only the characters by which people recognize an access token. */
function lineOf(ctx: Context, route: string, ms: number) {
  const token = ctx.get("X-Access-Token") || ctx.get("Authorization").replace(/^\s*bearer\s+/i, "")
  const credential = looksLikeToken(token) ? { credential: token.slice(0, entityLimits.tokenPrefixLength) } : {}
  const { requestId } = ctx.state["request"] as RequestInfo
  return { requestId, method: ctx.method, route, status: ctx.status, ms: Math.round(ms), ...credential }
}

/** The pattern of the route that served a request: never its path, which a client chooses. */
function routeOf(ctx: Context): string {
  const matched = (ctx as { _matchedRoute?: string | RegExp })._matchedRoute
  if (matched) return String(matched)
  return ctx.path === "/graphql" ? "/graphql" : "other"
}

/** `GET /metrics` in Prometheus's format: requires METRICS_TOKEN as bearer token; if it is not configured, serves only this machine. */
export function metricsRouter(metrics: Metrics, token: string | null): Router {
  return new Router().get("/metrics", async (ctx) => {
    mustBeAllowed(ctx, token)
    ctx.set("Cache-Control", "no-store")
    ctx.type = Registry.PROMETHEUS_CONTENT_TYPE
    ctx.body = await metrics.text()
  })
}

function mustBeAllowed(ctx: RouterContext, token: string | null) {
  if (token) {
    const given = Buffer.from(ctx.get("Authorization"))
    const expected = Buffer.from(`Bearer ${token}`)
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      throw new Unauthenticated("Metrics need METRICS_TOKEN as bearer token")
    return
  }
  // Behind a proxy that is not trusted every client has the proxy's address.
  const isForwarded = !ctx.app.proxy && (ctx.get("X-Forwarded-For") || ctx.get("Forwarded"))
  // A trusted proxy passes on what the client calls its address.
  const isLocal = ipaddr.isValid(ctx.ip) && ipaddr.process(ctx.ip).range() === "loopback"
  if (isForwarded || !isLocal) throw new Forbidden("Metrics answer clients on the server's own machine only, unless METRICS_TOKEN is set")
}
