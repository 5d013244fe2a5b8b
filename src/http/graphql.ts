import type { IncomingMessage } from "node:http"
import { ApolloServer, type ApolloServerPlugin, type BaseContext, HeaderMap } from "@apollo/server"
import { ApolloServerPluginCacheControlDisabled } from "@apollo/server/plugin/disabled"
import type { ExecutionResult, GraphQLFormattedError, GraphQLSchema } from "graphql"
import { processRequest } from "graphql-upload-minimal"
import type { Context, Middleware } from "koa"
import { LRUCache } from "lru-cache"
import type { RequestContext } from "../context/request-context.js"
import { ApiError, BadUserInput, PayloadTooLarge, toGraphQLError } from "../errors.js"
import { type OperationEngine, type PreparedOperation, shownErrors } from "../graphql/engine.js"
import { graphqlLimits } from "../graphql/limits.js"
import { rootLimits } from "../limits.js"
import { readJson } from "./body.js"
import { type Form, openForm } from "./form.js"
import { currentRequest, type RequestContexts, refuse } from "./request.js"
import { checkUploadMap } from "./upload-map.js"

const responseJson = "application/graphql-response+json"

/** Apollo, which negotiates and parses, before the engine, which does the rest. */
export interface GraphqlServer {
  schema: GraphQLSchema
  engine: OperationEngine
  apollo: ApolloServer<RequestContext & BaseContext>
  /** The media type that Apollo chose for an Accept header. */
  types: LRUCache<string, string>
}

/** Starts Apollo on the schema. */
export async function startApollo(schema: GraphQLSchema, engine: OperationEngine): Promise<GraphqlServer> {
  const apollo = new ApolloServer<RequestContext & BaseContext>({
    schema,
    introspection: true,
    csrfPrevention: false,
    parseOptions: { maxTokens: rootLimits.graphqlTokens },
    // The engine validates, once the limits are measured, and keeps what is valid.
    dangerouslyDisableValidation: true,
    documentStore: null,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (_shown, error) => shownErrors(error, currentRequest.getStore()!)[0]!.toJSON(),
    plugins: [ApolloServerPluginCacheControlDisabled(), runningOn(engine, schema)],
  })
  await apollo.start()
  return { schema, engine, apollo, types: new LRUCache({ max: graphqlLimits.knownTypes }) }
}

/** Has the engine prepare and run what Apollo has parsed. */
const runningOn = (engine: OperationEngine, schema: GraphQLSchema): ApolloServerPlugin<RequestContext & BaseContext> => ({
  async requestDidStart() {
    return {
      async responseForOperation({ source, document, request: { operationName, variables }, contextValue }) {
        const prepare = () => engine.prepare(schema, { query: source, operationName, variables }, document)
        const singleResult = await answerOf(engine, prepare, contextValue, variables)
        return { http: { headers: new HeaderMap() }, body: { kind: "single", singleResult } }
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

/** Prepares and runs an operation; whatever is thrown is shown as errors. */
async function answerOf(
  engine: OperationEngine,
  prepare: () => PreparedOperation,
  context: RequestContext,
  variables: Record<string, unknown> = {},
): Promise<Pick<ExecutionResult, "data" | "errors">> {
  try {
    const prepared = prepare()
    if (prepared.operation.operation === "subscription")
      throw new BadUserInput("A subscription needs a WebSocket (graphql-transport-ws) at this address")
    const { data, errors } = await engine.run(prepared, context, variables, "http")
    return errors ? { errors: shownErrors(errors, context.request), data } : { data }
  } catch (error) {
    return { errors: shownErrors(error, context.request) }
  }
}

/** The HTTP status by the GraphQL-over-HTTP specification: plain JSON answers 200, the newer type the status of the request's own error. */
function statusOf(accept: string | undefined, data: unknown, errors: readonly GraphQLFormattedError[] | undefined): number {
  if (data !== undefined || !errors?.length) return 200
  const status = Number(errors[0]?.extensions?.["statusCode"] ?? 400)
  // A GET that asks for a mutation is refused as HTTP refuses it, whatever the type.
  return accept?.includes(responseJson) || status === 405 ? status : 200
}

/** GraphQL over HTTP: credentials first, then the body; an operation that is prepared is run at once, every other goes through Apollo. */
export function graphqlHandler(server: GraphqlServer, reception: RequestContexts): Middleware {
  return async (ctx) => {
    let form: Form | undefined
    try {
      const context = await reception.contextOf(ctx)
      if (ctx.method === "POST" && ctx.request.is("multipart/form-data")) form = context.request.form = openForm(ctx)
      const body = form ? await operationIn(form, ctx) : ctx.method === "POST" ? await readJson(ctx) : undefined
      if (form || !body || !(await answerAtOnce(server, ctx, context, body as Record<string, unknown>)))
        await throughApollo(server, ctx, context, body)
    } catch (error) {
      refuseWhole(ctx, error)
    } finally {
      form?.close()
    }
  }
}

const isName = (value: unknown): value is string | null | undefined => value == null || typeof value === "string"
const isVariables = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value == null || (typeof value === "object" && !Array.isArray(value))

/** Answers an operation that is prepared, past Apollo: its way through its stages costs as much as a small operation. False for others. */
async function answerAtOnce(
  { engine, schema, types }: GraphqlServer,
  ctx: Context,
  context: RequestContext,
  body: Record<string, unknown>,
) {
  const { query, operationName, variables, ...more } = body
  const accept = ctx.get("Accept")
  const type = types.get(accept)
  if (!type || typeof query !== "string" || !isName(operationName) || !isVariables(variables) || Object.keys(more).length > 0) return false
  const prepared = engine.find(schema, { query, operationName })
  if (!prepared) return false
  const { data, errors } = await answerOf(engine, () => prepared, context, variables ?? {})
  ctx.set(context.request.headers)
  send(ctx, statusOf(accept, data, errors), type, JSON.stringify({ errors, data }))
  return true
}

async function throughApollo({ apollo, types }: GraphqlServer, ctx: Context, context: RequestContext, body: unknown) {
  const headers = new HeaderMap(Object.entries(ctx.headers as Record<string, string>))
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: ctx.method, headers, search: ctx.search, body },
    context: async () => context,
  })
  // Only @defer and @stream answer in pieces, and the schema has neither.
  if (answer.body.kind !== "complete") throw new Error("The operation answered in pieces")
  const [status, type] = [answer.status ?? 200, answer.headers.get("content-type")]
  if (status === 200 && type) types.set(ctx.get("Accept"), type)
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
  const options = { maxFieldSize: rootLimits.bodyBytes, maxFiles: 1 }
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
