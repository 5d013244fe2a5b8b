import Router, { type RouterContext } from "@koa/router"
import type { GraphQLSchema } from "graphql"
import type { Middleware } from "koa"
import { RequestContext, type RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { MethodNotAllowed, NotFound, Unauthenticated } from "../errors.js"
import { mustBeKnown } from "../graphql/access.js"
import type { OperationEngine } from "../graphql/engine.js"
import { type Operation, prepareRoute } from "../rest/kit/operation.js"
import { answer } from "../rest/kit/serve.js"
import { routeTable } from "../rest/table.js"
import { readJson } from "./body.js"
import { fileIn, openForm } from "./form.js"
import type { RequestContexts } from "./request.js"

/** Prepares the whole REST table. */
export const prepareRoutes = (engine: OperationEngine, restSchema: GraphQLSchema): Operation[] =>
  routeTable.map((route) => prepareRoute(engine, restSchema, route))

/** Serves the REST table. */
export function restRouter(operations: Operation[], reception: RequestContexts, services: Services): Router {
  const router = new Router()
  for (const operation of operations) {
    const { method, path, body, multipart, attempt } = operation.route
    router.register(path.replace(/\{(\w+)\}/g, ":$1"), [method], async (ctx) => {
      const request: RequestInfo = ctx.state["request"]
      try {
        // Counted before anything is read, so that a malformed attempt counts too.
        if (attempt) await services.signInLimit.count(`address:${ctx.ip}`, request.headers)
        request.attemptCounted = attempt
        // A public route does not look at credentials: who refreshes a session still sends the token that expired.
        const context =
          operation.rule === "public" ? new RequestContext(services, { kind: "anonymous" }, request) : await reception.contextOf(ctx)
        if (context.identity.kind === "visitor") throw new Unauthenticated("A visitor's token is for GraphQL alone")
        mustBeKnown(operation.rule, context)
        // The router hands on what it cannot decode; this says what is wrong with it.
        decodeURIComponent(ctx.path)
        if (multipart) await withFile(ctx, multipart, (given) => answer(operation, ctx, context, given))
        else await answer(operation, ctx, context, body ? await readJson(ctx) : {})
      } finally {
        ctx.set(request.headers)
      }
    })
  }
  return router
}

/** Reads a multipart body as far as its file; the file is read by whoever asked for it, and the rest by nobody. */
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

/** What no route took: a wrong method is 405 with `Allow`, an unknown path 404; with or without credentials. */
export function nothingFound(routers: Router[]): Middleware {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path)
    const methods = new Set(layers.flatMap((layer) => layer.methods))
    if (methods.size === 0) throw new NotFound("Path")
    const allow = [...methods].sort().join(", ")
    if (ctx.method !== "OPTIONS") throw new MethodNotAllowed(allow)
    ctx.status = 204
    ctx.set("Allow", allow)
  }
}
