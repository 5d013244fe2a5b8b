import type { IncomingMessage } from "node:http"
import { ApolloServer, type ApolloServerPlugin, type BaseContext, HeaderMap } from "@apollo/server"
import { ApolloServerPluginCacheControlDisabled } from "@apollo/server/plugin/disabled"
import { GraphQLError, type GraphQLSchema } from "graphql"
import { processRequest } from "graphql-upload-minimal"
import type { Context, Middleware } from "koa"
import { BadUserInput, describe, PayloadTooLarge, toGraphQLError } from "../errors.js"
import { limits } from "../limits.js"
import { compiled } from "../schema/kit/compiled.js"
import { refuseExcess, refuseNulIn } from "../schema/kit/operation-limits.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { readJson } from "./body.js"
import { type Form, openForm } from "./form.js"
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
        if (!operation) throw new BadUserInput("Say which operation to run: operationName names none of the document's")
        if (operation.operation === "subscription")
          throw new BadUserInput("A subscription needs a WebSocket (graphql-transport-ws) at this address")
        refuseNulIn(request.variables ?? {})
        refuseExcess(schema, document, operation, request.variables ?? {})
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

/**
 * The data of an answer on its way through Apollo, which keeps what it has answered reachable until the next full garbage collection
 * (seen with 5.5 on Node 24): the data is taken out when it is written, and only the empty hull is kept.
 */
class Hull {
  constructor(private data: unknown) {}

  take(): unknown {
    const { data } = this
    this.data = undefined
    return data
  }
}

function inHull<T extends { data?: unknown }>(result: T) {
  return result.data ? { ...result, data: new Hull(result.data) } : result
}

/** An answer as text. */
const written = ({ data, ...rest }: { data?: unknown }) => JSON.stringify({ ...rest, data: data instanceof Hull ? data.take() : data })

/** Apollo over the compiled executor. */
export async function startApollo(schema: GraphQLSchema): Promise<ApolloServer<Viewer & BaseContext>> {
  const server = new ApolloServer<Viewer & BaseContext>({
    gateway: {
      async load() {
        return {
          executor: async ({ document, operationName, request, context }) =>
            inHull(await compiled(schema, document, operationName ?? "")(context, request.variables ?? {})) as never,
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
    stringifyResult: written,
    formatError: (_shown, error) => shownError(error, currentRequest.getStore()!).toJSON(),
    plugins: [ApolloServerPluginCacheControlDisabled(), beforeExecution(schema)],
  })
  await server.start()
  return server
}

/** The GraphQL door over HTTP: credentials first, then the body, then Apollo. */
export function graphqlDoor(server: ApolloServer<Viewer & BaseContext>, reception: Reception): Middleware {
  return async (ctx) => {
    let form: Form | undefined
    try {
      const viewer = await reception.viewer(ctx)
      if (ctx.method === "POST" && ctx.request.is("multipart/form-data")) form = viewer.request.form = openForm(ctx)
      const headers = new HeaderMap(Object.entries(ctx.headers as Record<string, string>))
      const body = form ? await operationIn(form, ctx) : ctx.method === "POST" ? await readJson(ctx) : undefined
      const answer = await server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method: ctx.method, headers, search: ctx.search, body },
        context: async () => viewer,
      })
      // Only @defer and @stream answer in pieces, and the schema has neither.
      if (answer.body.kind !== "complete") throw new Error("The operation answered in pieces")
      ctx.status = answer.status ?? 200
      for (const [name, value] of answer.headers) ctx.set(name, value)
      // As bytes: a long text would be copied once to find its type, and once more behind its headers.
      ctx.body = Buffer.from(answer.body.string)
    } catch (error) {
      refuseWhole(ctx, error)
    } finally {
      form?.close()
    }
  }
}

/** The operation of a multipart request, its file on the way (GraphQL multipart request specification). */
async function operationIn(form: Form, ctx: Context) {
  const options = { maxFieldSize: limits.bodyBytes, maxFiles: 1 }
  return processRequest(form as unknown as IncomingMessage, ctx.res, options).catch((error: Error & { status?: number }) => {
    // Broken off: the form knows why.
    if (/disconnected/.test(error.message)) throw form.reason
    if (/max file uploads/.test(error.message)) throw new BadUserInput("A request carries one file: send others in requests of their own")
    if (error.status === 413) throw new PayloadTooLarge()
    throw new BadUserInput(error.status === 400 ? error.message : "The multipart body is incomplete or malformed")
  })
}

/** A request that is refused as a whole: errors and no data. */
function refuseWhole(ctx: Context, error: unknown) {
  refuse(ctx, error)
  ctx.body = JSON.stringify({ errors: [toGraphQLError(error, ctx.state["request"].requestId)] })
  ctx.type = ctx.accepts(responseJson, "application/json") || "application/json"
}
