import { ApolloServer, type ApolloServerPlugin, type BaseContext } from "@apollo/server"
import { ApolloServerPluginCacheControlDisabled } from "@apollo/server/plugin/disabled"
import { koaMiddleware } from "@as-integrations/koa"
import { GraphQLError, type GraphQLSchema } from "graphql"
import type { Context, Middleware } from "koa"
import { describe, toGraphQLError } from "../errors.js"
import { limits } from "../limits.js"
import { compiled } from "../schema/kit/compiled.js"
import { refuseExcess, refuseNulIn } from "../schema/kit/operation-limits.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { readJson } from "./body.js"
import { currentRequest, type Reception, refuse } from "./request.js"

const responseJson = "application/graphql-response+json"

/** Logs what is ours to repair and makes the error that a client is shown. */
export function shownError(error: unknown, request: { requestId: string; log: Viewer["request"]["log"] }): GraphQLError {
  if (describe(error).unexpected) request.log.error({ err: error }, "operation failed")
  return toGraphQLError(error, request.requestId)
}

/** Refuses what is over the limits before any of it runs. */
const beforeExecution = (schema: GraphQLSchema): ApolloServerPlugin<Viewer & BaseContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ document, operation, request }) {
        refuseNulIn(request.variables ?? {})
        refuseExcess(schema, document, operation!, request.variables ?? {})
      },
      async willSendResponse({ request, response, contextValue }) {
        for (const [name, value] of Object.entries(contextValue.request.headers)) response.http.headers.set(name.toLowerCase(), value)
        if (response.body.kind !== "single") return
        const { data, errors } = response.body.singleResult
        response.http.status = statusOf(request.http?.headers.get("accept"), data, errors)
      },
    }
  },
})

/** The HTTP status by the GraphQL-over-HTTP specification: plain JSON answers 200, the newer type the status of the request's own error. */
function statusOf(
  accept: string | undefined,
  data: unknown,
  errors: readonly { extensions?: Record<string, unknown> }[] | undefined,
): number {
  if (data !== undefined || !errors?.length) return 200
  const status = Number(errors[0]?.extensions?.["statusCode"] ?? 400)
  // A GET that asks for a mutation is refused as HTTP refuses it, whatever the type.
  return accept?.includes(responseJson) || status === 405 ? status : 200
}

/** Apollo over the compiled executor. */
export async function startApollo(schema: GraphQLSchema): Promise<ApolloServer<Viewer & BaseContext>> {
  const server = new ApolloServer<Viewer & BaseContext>({
    gateway: {
      async load() {
        return {
          executor: async ({ document, operationName, request, context }) =>
            (await compiled(schema, document, operationName ?? "")(context, request.variables ?? {})) as never,
        }
      },
      onSchemaLoadOrUpdate(hear) {
        hear({ apiSchema: schema, coreSupergraphSdl: "" })
        return () => {}
      },
      async stop() {},
    },
    introspection: true,
    csrfPrevention: false,
    parseOptions: { maxTokens: limits.graphqlTokens },
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (_shown, error) => shownError(error, currentRequest.getStore()!).toJSON(),
    plugins: [ApolloServerPluginCacheControlDisabled(), beforeExecution(schema)],
  })
  await server.start()
  return server
}

/** The GraphQL door over HTTP: credentials first, then the body, then Apollo. */
export function graphqlDoor(server: ApolloServer<Viewer & BaseContext>, reception: Reception): Middleware {
  const run = koaMiddleware(server, { context: async ({ ctx }) => ctx.state["viewer"] }) as unknown as Middleware
  const nothing = async () => {}
  return async (ctx) => {
    try {
      ctx.state["viewer"] = await reception.viewer(ctx)
      if (ctx.method === "POST") (ctx.request as { body?: unknown }).body = await readJson(ctx)
      await run(ctx, nothing)
    } catch (error) {
      refuseWhole(ctx, error)
    }
  }
}

/** A request that is refused as a whole: errors and no data. */
function refuseWhole(ctx: Context, error: unknown) {
  refuse(ctx, error)
  ctx.body = JSON.stringify({ errors: [toGraphQLError(error, ctx.state["request"].requestId)] })
  ctx.type = ctx.accepts(responseJson, "application/json") || "application/json"
}
