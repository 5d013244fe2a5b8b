import type { IncomingMessage } from "node:http"
import { ApolloServer, type ApolloServerPlugin, type BaseContext, HeaderMap } from "@apollo/server"
import { ApolloServerPluginCacheControlDisabled } from "@apollo/server/plugin/disabled"
import type { ExecutionResult, GraphQLFormattedError, GraphQLSchema } from "graphql"
import { processRequest } from "graphql-upload-minimal"
import type { Context, Middleware } from "koa"
import { LRUCache } from "lru-cache"
import { cacheOwnerOf } from "../context/identity.js"
import type { RequestContext } from "../context/request-context.js"
import { ApiError, BadUserInput, DocumentNotTrusted, PayloadTooLarge, toGraphQLError } from "../errors/errors.js"
import { type OperationEngine, type PreparedOperation, shownErrors } from "../graphql/engine.js"
import { graphqlLimits } from "../graphql/limits.js"
import { rootLimits } from "../limits.js"
import { longestTurns, timed } from "../observability/longest-turns.js"
import { readJson } from "./body.js"
import { type Form, openForm } from "./form.js"
import { currentRequest, type RequestContexts, refuse } from "./request.js"
import { checkUploadMap } from "./upload-map.js"

const responseJson = "application/graphql-response+json"

/** The GraphQL server: Apollo negotiates and parses, the engine does the rest. */
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
    stringifyResult: (result) => `${timed("serialize", () => JSON.stringify(result))}\n`,
    parseOptions: { maxTokens: rootLimits.graphqlTokens },
    // The engine validates after it has measured the limits, and caches valid operations.
    dangerouslyDisableValidation: true,
    documentStore: null,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (_shown, error) => shownErrors(error, currentRequest.getStore()!)[0]!.toJSON(),
    plugins: [ApolloServerPluginCacheControlDisabled(), enginePlugin(engine, schema)],
  })
  await apollo.start()
  return { schema, engine, apollo, types: new LRUCache({ max: graphqlLimits.knownTypes }) }
}

/** Prepares and runs in the engine the operation that Apollo has parsed. */
const enginePlugin = (engine: OperationEngine, schema: GraphQLSchema): ApolloServerPlugin<RequestContext & BaseContext> => ({
  async requestDidStart() {
    return {
      async parsingDidStart() {
        const begin = performance.now()
        return async () => longestTurns.note("parse", (performance.now() - begin) / 1_000)
      },
      async responseForOperation({ source, document, request: { operationName, variables }, contextValue }) {
        const owner = cacheOwnerOf(contextValue.identity)
        const prepare = () => engine.prepareForClient(schema, { query: source, operationName, variables }, owner, () => document)
        const singleResult = await answerOf(engine, prepare, contextValue, variables)
        return { http: { headers: new HeaderMap() }, body: { kind: "single", singleResult } }
      },
      async willSendResponse({ request, response }) {
        if (response.body.kind !== "single") return
        const { data, errors } = response.body.singleResult
        response.http.status = statusOf(request.http?.headers.get("accept"), data, errors)
      },
    }
  },
})

/** Prepares and runs an operation; converts thrown errors to GraphQL errors. */
async function answerOf(
  engine: OperationEngine,
  prepare: () => PreparedOperation,
  context: RequestContext,
  variables: Record<string, unknown> = {},
): Promise<Pick<ExecutionResult, "data" | "errors">> {
  try {
    const prepared = prepare()
    if (prepared.operation.operation === "subscription")
      throw new BadUserInput("A subscription requires a WebSocket (graphql-transport-ws) at this URL")
    const { data, errors } = await engine.run(prepared, context, variables, "http")
    return errors ? { errors: shownErrors(errors, context.request), data } : { data }
  } catch (error) {
    return { errors: shownErrors(error, context.request) }
  }
}

/** HTTP status by the GraphQL-over-HTTP specification: plain JSON responds with 200, the newer type with the status of a request error. */
function statusOf(accept: string | undefined, data: unknown, errors: readonly GraphQLFormattedError[] | undefined): number {
  if (data !== undefined || !errors?.length) return 200
  const status = Number(errors[0]?.extensions?.["statusCode"] ?? 400)
  // A mutation over GET, and an operation that the server is not to run, have their status with either media type.
  const isRefusal = status === 405 || errors[0]?.extensions?.["code"] === DocumentNotTrusted.code
  return accept?.includes(responseJson) || isRefusal ? status : 200
}

/** GraphQL over HTTP: authenticates, then reads the body; a prepared operation runs at once, others go through Apollo. */
export function graphqlHandler(server: GraphqlServer, requestContexts: RequestContexts): Middleware {
  return async (ctx) => {
    let form: Form | undefined
    try {
      const context = await requestContexts.contextOf(ctx)
      if (ctx.method === "POST" && ctx.request.is("multipart/form-data")) form = context.request.form = openForm(ctx)
      const sent = form ? await operationIn(form, ctx) : ctx.method === "POST" ? await readJson(ctx) : undefined
      const { body, search } = withDocument(server, ctx, sent)
      if (form || !body || !(await answerAtOnce(server, ctx, context, body as Record<string, unknown>)))
        await throughApollo(server, ctx, context, body, search)
    } catch (error) {
      sendRequestError(ctx, error)
    } finally {
      form?.close()
    }
  }
}

/** The body, or the query of a GET, with the text of the trusted document that it names by its ID. */
function withDocument({ engine: { trusted } }: GraphqlServer, { search, querystring }: Context, body: unknown) {
  if (!trusted) return { body, search }
  if (body) return { body: trusted.resolve(body), search }
  const given = Object.fromEntries(new URLSearchParams(querystring))
  const named = trusted.resolve<Record<string, unknown>>({ ...given, extensions: parsed(given["extensions"]) })
  return { body, search: `?${new URLSearchParams(named as Record<string, string>)}` }
}

/** The value of a JSON text; undefined for a malformed one, which names no document. */
function parsed(text: string | undefined): unknown {
  try {
    return text && JSON.parse(text)
  } catch {
    return undefined
  }
}

const isName = (value: unknown): value is string | null | undefined => value == null || typeof value === "string"
const isVariables = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value == null || (typeof value === "object" && !Array.isArray(value))

/** Runs a prepared operation without Apollo, whose pipeline costs as much as a small operation; false for other operations. */
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
  send(
    ctx,
    statusOf(accept, data, errors),
    type,
    timed("serialize", () => JSON.stringify({ errors, data })),
  )
  return true
}

async function throughApollo({ apollo, types }: GraphqlServer, ctx: Context, context: RequestContext, body: unknown, search: string) {
  const headers = new HeaderMap(Object.entries(ctx.headers as Record<string, string>))
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: ctx.method, headers, search, body },
    context: async () => context,
  })
  // Only @defer and @stream produce several parts, and the schema has neither.
  if (answer.body.kind !== "complete") throw new Error("The operation returned several parts")
  const [status, type] = [answer.status ?? 200, answer.headers.get("content-type")]
  if (status === 200 && type) types.set(ctx.get("Accept"), type)
  for (const [name, value] of answer.headers) ctx.set(name, value)
  send(ctx, status, type, answer.body.string)
}

/** Sends a text as bytes: Koa and Node would copy a long string twice, for its type and behind its headers. */
function send(ctx: Context, status: number, type: string | undefined, text: string) {
  ctx.status = status
  if (type) ctx.set("Content-Type", type)
  ctx.body = Buffer.from(text)
}

/** Reads the operation of a multipart request, whose file is still being received (GraphQL multipart request specification). */
async function operationIn(form: Form, ctx: Context) {
  const options = { maxFieldSize: rootLimits.bodyBytes, maxFiles: 1 }
  form.onParser = checkUploadMap
  return processRequest(form as unknown as IncomingMessage, ctx.res, options).catch((error: Error & { status?: number }) => {
    if (error instanceof ApiError) throw error
    // The request was aborted: the form has the reason.
    if (/disconnected/.test(error.message)) throw form.reason
    if (/max file uploads/.test(error.message))
      throw new BadUserInput("A request can contain only one file: send each file in its own request")
    if (error.status === 413) throw new PayloadTooLarge()
    throw new BadUserInput(error.status === 400 ? error.message : "The multipart body is incomplete or malformed")
  })
}

/** Refuses a request as a whole, with errors and without data. */
function sendRequestError(ctx: Context, error: unknown) {
  refuse(ctx, error)
  ctx.body = JSON.stringify({ errors: [toGraphQLError(error, ctx.state["request"].requestId)] })
  ctx.type = ctx.accepts(responseJson, "application/json") || "application/json"
}
