import Router, { type RouterContext } from "@koa/router"
import type { GraphQLSchema } from "graphql"
import type { Middleware } from "koa"
import { mustBeAbleToWrite, mustBeKnown } from "../context/access.js"
import { addressKey } from "../context/rate-limit.js"
import { RequestContext, type RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { MethodNotAllowed, Unauthenticated } from "../errors/errors.js"
import type { OperationEngine } from "../graphql/engine.js"
import { type Operation, prepareRoute } from "../rest/kit/operation.js"
import { answer } from "../rest/kit/serve.js"
import { routeTable } from "../rest/table.js"
import { readJson } from "./body.js"
import { fileIn, openForm } from "./form.js"
import type { RequestContexts } from "./request.js"

/** Prepares all REST routes. */
export const prepareRoutes = (engine: OperationEngine, restSchema: GraphQLSchema): Operation[] =>
  routeTable.map((route) => prepareRoute(engine, restSchema, route))

/** Serves the REST routes. */
export function restRouter(operations: Operation[], requestContexts: RequestContexts, services: Services): Router {
  const router = new Router()
  for (const operation of operations) {
    const { method, path, body, multipart, countsAsSignIn } = operation.route
    router.register(path.replace(/\{(\w+)\}/g, ":$1"), [method], async (ctx) => {
      const request: RequestInfo = ctx.state["request"]
      // Counted before the body is read, so that a malformed attempt counts too.
      if (countsAsSignIn) await services.limits.signIn.count(addressKey(ctx.ip), request.headers)
      request.attemptCounted = countsAsSignIn
      // A public route ignores credentials: a client that refreshes its session may still send the expired token.
      const isPublic = operation.rule === "public"
      if (isPublic && !countsAsSignIn) await services.limits.address.count(addressKey(ctx.ip), request.headers)
      const context = isPublic ? new RequestContext(services, { kind: "anonymous" }, request) : await requestContexts.contextOf(ctx)
      if (context.identity.kind === "visitor") throw new Unauthenticated("A visitor's token is for GraphQL alone")
      mustBeKnown(operation.rule, context)
      // Before the body, so that a file is not received in vain.
      if (method !== "GET") mustBeAbleToWrite(context)
      // The router skips a path that it cannot decode; this throws the error that explains it.
      decodeURIComponent(ctx.path)
      if (multipart) await withFile(ctx, multipart, (given) => answer(operation, ctx, context, given))
      else await answer(pageByPage(operation, request), ctx, context, body ? await readJson(ctx) : {})
    })
  }
  return router
}

/** The operation of a list that may be streamed: it runs for each page, and what it read for the page before has been sent. */
function pageByPage(operation: Operation, { reads }: RequestInfo): Operation {
  if (!operation.route.streamsAll && !operation.route.csv) return operation
  const run: Operation["run"] = (context, variables) => {
    reads?.forget()
    return operation.run(context, variables)
  }
  return { ...operation, run }
}

/** Reads a multipart body up to its file; `work` reads the file, and the rest is discarded. */
async function withFile(ctx: RouterContext, name: string, work: (body: Record<string, unknown>) => Promise<void>) {
  const form = openForm(ctx)
  try {
    const request: RequestInfo = ctx.state["request"]
    request.form = form
    await work({ [name]: await fileIn(form, name) })
  } finally {
    form.close()
  }
}

/** Refuses an unsupported method on a known path with 405 and `Allow`, with or without credentials; an unknown path goes on. */
export function wrongMethod(routers: Router[]): Middleware {
  return (ctx, next) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path)
    const methods = new Set(layers.flatMap((layer) => layer.methods))
    if (methods.size === 0) return next()
    const allow = [...methods].sort().join(", ")
    if (ctx.method !== "OPTIONS") throw new MethodNotAllowed(allow)
    ctx.status = 204
    ctx.set("Allow", allow)
  }
}
