import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http"
import { fileURLToPath } from "node:url"
import cors from "@koa/cors"
import Router from "@koa/router"
import type { GraphQLSchema } from "graphql"
import Koa from "koa"
import type { Services } from "./context/services.js"
import { lastMigration } from "./database/migrate.js"
import { operatorError } from "./errors/operator-error.js"
import { serveGraphqlWs } from "./events/transports/graphql-ws.js"
import type { OpenSockets } from "./events/transports/open-sockets.js"
import { SocketIo } from "./events/transports/socket-io.js"
import { isWebSocketUpgrade, serveUpgrades } from "./events/transports/upgrades.js"
import type { OperationEngine } from "./graphql/engine.js"
import { printedSchema } from "./graphql/printed-schema.js"
import { graphqlHandler, startApollo } from "./http/graphql.js"
import { healthRouter } from "./http/health.js"
import { hookRouter } from "./http/hooks.js"
import { LastResponses } from "./http/last-responses.js"
import { httpLimits } from "./http/limits.js"
import { mcpRouter } from "./http/mcp.js"
import { mediaRouter } from "./http/media.js"
import { metricsRouter, observeRequests } from "./http/metrics.js"
import { oneAtATime } from "./http/pipeline.js"
import { answerRefused } from "./http/refused.js"
import { RequestContexts, requestMiddleware } from "./http/request.js"
import { prepareRoutes, restRouter, wrongMethod } from "./http/rest.js"
import { versionRouter } from "./http/version.js"
import { acceptWaiting } from "./http/waiting-connections.js"
import { widgetFinder } from "./http/widget-page.js"
import { Running } from "./jobs/kit/running.js"
import { prepareTools } from "./mcp/kit/tool.js"
import { toolTable } from "./mcp/tools.js"
import { SampledLog } from "./observability/sampled-log.js"
import { type DemoAccess, pages } from "./pages/pages.js"
import type { StartPageFacts } from "./pages/start-page.js"

/** Path of Socket.IO, as its clients write it. */
const socketIoPath = "/socket.io/"

/** The HTTP application: pages, health, GraphQL over HTTP and sockets, REST, MCP, hooks. */
export async function createApp(
  services: Services,
  engine: OperationEngine,
  schema: GraphQLSchema,
  restSchema: GraphQLSchema,
  sockets: OpenSockets,
  startPage: () => Omit<StartPageFacts, "metrics" | "schema">,
  demoAccess: () => DemoAccess | null,
) {
  const { config, log } = services
  const app = new Koa({ proxy: config.trustProxy > 0, maxIpsCount: config.trustProxy })
  const contexts = new RequestContexts(services)
  const operations = prepareRoutes(engine, restSchema)
  const server = await startApollo(schema, engine)
  const rest = restRouter(operations, contexts, services)
  const documents = documentRouter(config.graphqlIntrospection ? schema : null)
  const health = healthRouter(services)
  const hooks = hookRouter(services)
  const media = mediaRouter(services)
  const mcp = mcpRouter(prepareTools(engine, restSchema, toolTable), contexts, services)

  app.use(observeRequests(services.metrics, log, config.requestLog ? "info" : "debug"))
  app.use(requestMiddleware(log))
  app.use(crossOrigin(config.corsOrigins))
  const version = versionRouter(await lastMigration(services.database))
  const routers = [rest, documents, health, version, metricsRouter(services.metrics, config.metricsToken), hooks, media, mcp]
  const metrics = routers.some((router) => router.match("/metrics", "GET").route)
  const { serve, unknownPath } = pages({
    hasPages: config.pages,
    facts: () => ({ ...startPage(), schema: config.graphqlIntrospection, metrics }),
    findWidget: widgetFinder(services),
    demoAccess,
  })
  app.use(serve)
  const graphql = graphqlHandler(server, contexts)
  app.use((ctx, next) => (ctx.path === "/graphql" ? graphql(ctx, next) : next()))
  for (const router of routers) app.use(router.routes())
  app.use(wrongMethod(routers))
  app.use(unknownPath)
  const lines = new SampledLog(log)
  // After the response has begun: either the client went away, or reading what is sent failed.
  app.on("error", (error: NodeJS.ErrnoException) =>
    lines.line(/^(ECONN|EPIPE|ERR_STREAM|HPE_)/.test(error.code ?? "") ? "debug" : "error", "a response could not be completed", {
      err: error,
    }),
  )

  const handle = app.callback()
  const requests = new Running(log)
  const responses = new LastResponses()
  const addressOf = (request: IncomingMessage) => app.createContext(request, new ServerResponse(request)).ip
  const socketIo = new SocketIo(services, sockets, addressOf, httpLimits.crossOriginSeconds)
  // A request without Host is refused like others, by requestMiddleware().
  const http = createServer(
    { requireHostHeader: false, shouldUpgradeCallback: isWebSocketUpgrade },
    oneAtATime((request, response) => {
      responses.add(response)
      if (request.url?.split("?")[0] === socketIoPath) socketIo.handle(request, response)
      else void requests.add(handle(request, response))
    }),
  )
  // As when no file descriptor is left.
  http.on("error", (error) => {
    // An error before is that of `listen()`.
    if (http.listening) lines.line("error", "a connection could not be accepted", { err: error })
  })
  answerRefused(http)
  const graphqlWs = serveGraphqlWs(schema, engine, services, sockets, addressOf)
  serveUpgrades(http, { "/graphql": graphqlWs, "/ws": graphqlWs, [socketIoPath]: socketIo }, lines)
  return {
    http,
    /** Closes in order: accepts no new connections, asks sockets to reconnect, and finishes running requests. */
    async close() {
      responses.stop()
      await acceptWaiting(http)
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      await Promise.all([graphqlWs.close(), socketIo.close()])
      http.closeIdleConnections()
      await closed
      // The request of a client that disconnected may still run.
      await requests.idle()
      await server.apollo.stop()
    },
  }
}

/** CORS: the widget's routes and GraphQL allow any origin, other routes the configured ones. There are no cookies. */
function crossOrigin(origins: readonly string[]) {
  const exposed = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "Idempotency-Replayed"]
  return cors({
    origin(ctx) {
      const origin = ctx.get("Origin")
      const isOpen = ctx.path.startsWith("/hooks/widget/") || ctx.path === "/graphql" || origins.includes("*")
      return isOpen ? "*" : origins.includes(origin) ? origin : ""
    },
    exposeHeaders: exposed,
    maxAge: httpLimits.crossOriginSeconds,
  })
}

/** The OpenAPI document, which `npm run generate` writes and `npm run build` copies. */
const openApiFile = fileURLToPath(new URL("../openapi.json", import.meta.url))

/** Routes for SDL, unless the schema is hidden, and OpenAPI, from which clients generate code. */
function documentRouter(schema: GraphQLSchema | null): Router {
  // Once: a build that is replaced may be removed while this server runs.
  const openapi = readFileSync(openApiFile)
  const router = new Router().get("/api/openapi.json", (ctx) => {
    ctx.set("Cache-Control", "no-cache")
    ctx.type = "application/json"
    ctx.body = openapi
  })
  if (!schema) return router
  const sdl = printedSchema(schema)
  return router.get("/graphql/schema.graphql", (ctx) => {
    ctx.set("Cache-Control", "no-cache")
    ctx.type = "text/plain; charset=utf-8"
    ctx.body = sdl
  })
}

/** Starts listening and returns the port. */
export function listen(http: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE"
      const why = isTaken ? "the port is in use; stop the program that uses it, or set PORT" : error.message
      reject(operatorError(`Cannot listen on ${host}:${port}: ${why}`, error))
    }
    http.once("error", refuse)
    http.listen(port, host, () => {
      http.off("error", refuse)
      resolve((http.address() as { port: number }).port)
    })
  })
}
