import type { IncomingMessage } from "node:http"
import { ApolloServer, type ApolloServerPlugin, type BaseContext, HeaderMap } from "@apollo/server"
import { ApolloServerPluginCacheControlDisabled } from "@apollo/server/plugin/disabled"
import type { GraphQLSchema } from "graphql"
import { processRequest } from "graphql-upload-minimal"
import type { Context, Middleware } from "koa"
import { ApiError, BadUserInput, PayloadTooLarge, toGraphQLError } from "../errors.js"
import { limits } from "../limits.js"
import { compiled } from "../schema/kit/compiled.js"
import { refuseExcess } from "../schema/kit/operation-limits.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { readJson } from "./body.js"
import { type Form, openForm } from "./form.js"
import { KnownOperations } from "./known-operations.js"
import { responseJson, shownError, statusOf } from "./operation-answer.js"
import { currentRequest, type Reception, refuse } from "./request.js"
import { checkUploadMap } from "./upload-map.js"

/** Refuses what is over the limits before any of it runs. */
const beforeExecution = (schema: GraphQLSchema, known: KnownOperations): ApolloServerPlugin<Viewer & BaseContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ document, operation, request }) {
        if (!operation) throw new BadUserInput("Say which operation to run: operationName names none of the document's")
        if (operation.operation === "subscription")
          throw new BadUserInput("A subscription needs a WebSocket (graphql-transport-ws) at this address")
        refuseExcess(schema, document, operation, request.variables ?? {})
        known.learn(request.query, request.operationName, document)
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

/** Apollo over the compiled executor, and what it has answered before. */
export interface GraphqlServer {
  apollo: ApolloServer<Viewer & BaseContext>
  known: KnownOperations
}

/** Starts Apollo on the schema. */
export async function startApollo(schema: GraphQLSchema): Promise<GraphqlServer> {
  const known = new KnownOperations(schema)
  const apollo = new ApolloServer<Viewer & BaseContext>({
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
    plugins: [ApolloServerPluginCacheControlDisabled(), beforeExecution(schema, known)],
  })
  await apollo.start()
  return { apollo, known }
}

/** The GraphQL door over HTTP: credentials first, then the body, then what is known of the operation, then Apollo. */
export function graphqlDoor(server: GraphqlServer, reception: Reception): Middleware {
  return async (ctx) => {
    let form: Form | undefined
    try {
      const viewer = await reception.viewer(ctx)
      if (ctx.method === "POST" && ctx.request.is("multipart/form-data")) form = viewer.request.form = openForm(ctx)
      const body = form ? await operationIn(form, ctx) : ctx.method === "POST" ? await readJson(ctx) : undefined
      const answer = body && !form ? await server.known.answer(viewer, body as Record<string, unknown>, ctx.get("Accept")) : null
      if (answer) {
        ctx.set(viewer.request.headers)
        send(ctx, answer.status, answer.type, answer.text)
      } else await throughApollo(server, ctx, viewer, body)
    } catch (error) {
      refuseWhole(ctx, error)
    } finally {
      form?.close()
    }
  }
}

async function throughApollo({ apollo, known }: GraphqlServer, ctx: Context, viewer: Viewer, body: unknown) {
  const headers = new HeaderMap(Object.entries(ctx.headers as Record<string, string>))
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: ctx.method, headers, search: ctx.search, body },
    context: async () => viewer,
  })
  // Only @defer and @stream answer in pieces, and the schema has neither.
  if (answer.body.kind !== "complete") throw new Error("The operation answered in pieces")
  const [status, type] = [answer.status ?? 200, answer.headers.get("content-type")]
  if (status === 200) known.learnType(ctx.get("Accept"), type)
  for (const [name, value] of answer.headers) ctx.set(name, value)
  send(ctx, status, type, answer.body.string)
}

/** Sends a text as bytes: a long text would be copied once to find its type, and once more behind its headers. */
function send(ctx: Context, status: number, type: string | undefined, text: string) {
  ctx.status = status
  if (type) ctx.set("Content-Type", type)
  ctx.body = Buffer.from(text)
}

/** The operation of a multipart request, its file on the way (GraphQL multipart request specification). */
async function operationIn(form: Form, ctx: Context) {
  const options = { maxFieldSize: limits.bodyBytes, maxFiles: 1 }
  form.onParser = checkUploadMap
  return processRequest(form as unknown as IncomingMessage, ctx.res, options).catch((error: Error & { status?: number }) => {
    if (error instanceof ApiError) throw error
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
