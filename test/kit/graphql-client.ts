import { STATUS_CODES } from "node:http"
import {
  type FieldNode,
  type GraphQLEnumType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
} from "graphql"
import { platformSchema } from "../../src/graphql/schema.js"
import type { Route } from "../../src/rest/kit/routes.js"
import { routeTable } from "../../src/rest/table.js"
import type { Credential, Method } from "./clients.js"
import type { World } from "./world.js"

/** A response in REST's form. */
export interface ApiResponse {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: as the route shapes it.
  body: any
}

/** A request that can be awaited: supertest's, or one with the same methods. */
export interface ApiRequest extends PromiseLike<ApiResponse> {
  expect(status: number, body?: unknown): ApiRequest
  set(header: string, value: string): ApiRequest
}

/** A client that takes REST's requests, whatever protocol it uses. */
export interface ApiClient {
  as(credential: Credential): {
    get(path: string): ApiRequest
    post(path: string, body?: unknown): ApiRequest
    put(path: string, body?: unknown): ApiRequest
    patch(path: string, body?: unknown): ApiRequest
    delete(path: string): ApiRequest
  }
}

/** Makes a client from a function that makes its requests. */
export const clientWith = (request: (credential: Credential, method: Method, path: string, body?: unknown) => ApiRequest): ApiClient => ({
  as: (credential) => ({
    get: (path) => request(credential, "get", path),
    post: (path, body) => request(credential, "post", path, body),
    put: (path, body) => request(credential, "put", path, body),
    patch: (path, body) => request(credential, "patch", path, body),
    delete: (path) => request(credential, "delete", path),
  }),
})

/** A request that is sent when it is awaited, like supertest's. */
export abstract class PendingRequest implements ApiRequest {
  abstract expect(status: number, body?: unknown): this
  abstract set(header: string, value: string): this
  protected abstract send(): Promise<ApiResponse>

  // biome-ignore lint/suspicious/noThenProperty: supertest's requests are awaited as they are.
  then<A, B>(
    whenDone?: ((answer: ApiResponse) => A | PromiseLike<A>) | null,
    whenFailed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ) {
    return this.send().then(whenDone, whenFailed)
  }
}

/**
 * Both protocols by name, for `describe.each`. The GraphQL client runs the operation of the route, with variables from the request, and
 * converts the result into REST's form.
 * @example describe.each(protocols)("over %s", (_name, clientOf) => { const w = world(); const rest = clientOf(w) … })
 */
export const protocols: [string, (world: World) => ApiClient][] = [
  ["REST", (world) => world.rest as unknown as ApiClient],
  ["GraphQL", graphqlClient],
]

/** GraphQL behind REST's addresses. Its responses are checked against the OpenAPI document, like those of REST. */
function graphqlClient(world: World): ApiClient {
  return clientWith(
    (credential, method, path, body) => new GraphqlRequest(world, credential, method.toUpperCase() as Route["method"], path, body),
  )
}

class GraphqlRequest extends PendingRequest {
  private readonly checks: ((answer: ApiResponse) => void)[] = []
  private key: string | undefined

  constructor(
    private readonly world: World,
    private readonly credential: Credential,
    private readonly method: Route["method"],
    private readonly path: string,
    private readonly body: unknown,
  ) {
    super()
  }

  expect(status: number, body?: unknown) {
    this.checks.push((answer) => {
      if (answer.status !== status)
        throw new Error(`GraphQL for ${this.method} ${this.path} → ${answer.status}, not ${status}\n${JSON.stringify(answer.body)}`)
      if (body !== undefined) expect(answer.body).toEqual(body)
    })
    return this
  }

  set(header: string, value: string) {
    if (header !== "Idempotency-Key") throw new Error(`GraphQL has no header ${header}`)
    this.key = value
    return this
  }

  protected async send(): Promise<ApiResponse> {
    const schema = platformSchema(this.world.services.database.orm)
    const [address, query = ""] = this.path.split("?") as [string, string?]
    const route = routeOf(this.method, address)
    const document = parse(route.document).definitions[0] as OperationDefinitionNode
    const given = this.variables(schema, route, document, address, new URLSearchParams(query))
    const { headers, data, errors } = await this.world.gql(this.credential, route.document, given)
    const [error] = errors ?? []
    if (error?.extensions.statusCode === 500) throw new Error(`GraphQL for ${this.path} → 500\n${JSON.stringify(this.world.logged.at(-1))}`)
    const answer = error ? refusal(route, error) : success(schema, route, document, data)
    this.world.fits(this.method.toLowerCase(), this.path, { ...answer, headers: { "content-type": "application/json" } })
    for (const check of this.checks) check({ ...answer, headers })
    return { ...answer, headers }
  }

  /** The variables of the route's operation, from the request. */
  private variables(schema: GraphQLSchema, route: Route, document: OperationDefinitionNode, address: string, query: URLSearchParams) {
    const inPath = parametersOf(route, address)
    const values: Record<string, unknown> = {}
    for (const { variable, type: node } of document.variableDefinitions ?? []) {
      const name = variable.name.value
      const type = typeFromAST(schema, node as never) as GraphQLInputType
      const called = route.rename?.[name] ?? name
      const fields = (this.body ?? {}) as Record<string, unknown>
      const value =
        route.body === name
          ? { ...fields, ...(this.key !== undefined && { idempotencyKey: this.key }) }
          : (inPath[called] ?? (route.body === "fields" ? fields[called] : fromText(type, query.get(called))))
      if (value !== undefined) values[name] = spelled(type, value)
    }
    for (const [name, variable] of Object.entries(route.include ?? {}))
      values[variable] = (query.get("include") ?? "").split(",").includes(name)
    return values
  }
}

const patternOf = ({ path }: Route) => new RegExp(`^${path.replace(/\{\w+\}/g, "([^/]+)")}$`)

function routeOf(method: string, address: string): Route {
  const fits = routeTable.filter((route) => route.method === method && patternOf(route).test(address))
  // Literal paths before those with parameters.
  const [route] = fits.sort((a, b) => a.path.split("{").length - b.path.split("{").length)
  if (!route) throw new Error(`No route is ${method} ${address}`)
  return route
}

function parametersOf(route: Route, address: string): Record<string, string> {
  const [, ...values] = patternOf(route).exec(address)!
  return Object.fromEntries([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name], index) => [name!, decodeURIComponent(values[index]!)]))
}

/** A value of the query string by its type; a text that is no number or boolean stays a text, which GraphQL refuses like REST. */
function fromText(type: GraphQLInputType, text: string | null): unknown {
  if (text === null) return undefined
  const { name } = getNamedType(type)
  if (name === "Int" && /^-?\d+$/.test(text)) return Number(text)
  if (name === "Boolean" && (text === "true" || text === "false")) return text === "true"
  return text
}

/** A value with GraphQL's enum names, without undeclared fields. GraphQL's names, which REST refuses, become REST's, which GraphQL refuses. */
function spelled(type: GraphQLInputType, value: unknown): unknown {
  const bare = getNullableType(type)
  if (isListType(bare)) return Array.isArray(value) ? value.map((item) => spelled(bare.ofType, item)) : value
  if (isEnumType(bare)) return wordsOf(bare).find(({ word }) => word === value)?.name ?? bare.getValue(String(value))?.value ?? value
  if (!isInputObjectType(bare) || typeof value !== "object" || value === null || Array.isArray(value)) return value
  const declared = Object.entries(bare.getFields()).filter(([name]) => Object.hasOwn(value, name))
  return Object.fromEntries(declared.map(([name, field]) => [name, spelled(field.type, (value as Record<string, unknown>)[name])]))
}

const wordsOf = (type: GraphQLEnumType) => type.getValues().map(({ name, value }) => ({ name, word: value as string }))

/** GraphQL's error in REST's form. */
function refusal(route: Route, { message, extensions }: NonNullable<Awaited<ReturnType<World["gql"]>>["errors"]>[number]) {
  const { statusCode, code, requestId } = extensions
  const details = (extensions.details as { path: string; message: string }[]).map((detail) => {
    const path = route.body && detail.path.startsWith(`${route.body}.`) ? detail.path.slice(route.body.length + 1) : detail.path
    return { ...detail, path: route.rename?.[path] ?? path }
  })
  return { status: statusCode as number, body: { statusCode, error: STATUS_CODES[statusCode], message, code, details, requestId } }
}

/** GraphQL's data in REST's form. */
function success(schema: GraphQLSchema, route: Route, document: OperationDefinitionNode, data: Record<string, unknown>) {
  const root = document.selectionSet.selections[0] as FieldNode
  const type = schema.getRootType(document.operation)!.getFields()[root.name.value]!.type
  const whole = inRestWords(type, root, data[root.name.value])
  const value = route.field ? (whole as Record<string, unknown>)[route.field] : whole
  return {
    status: route.status ?? (route.method === "POST" ? 201 : 200),
    body: route.page ? pageOf(route, value as never) : withNulls(route, value),
  }
}

function pageOf(
  route: Route,
  { nodes, totalCount, pageInfo, stats }: { nodes: unknown[]; totalCount?: number; pageInfo?: Record<string, unknown>; stats?: object },
) {
  const nextCursor = pageInfo?.["hasNextPage"] ? pageInfo["endCursor"] : null
  return { data: nodes.map((node) => withNulls(route, node)), totalCount: totalCount ?? null, nextCursor, ...(stats && { stats }) }
}

/** Adds null for relations that were not included. */
const withNulls = (route: Route, value: unknown) =>
  route.nulls.length > 0 ? { ...Object.fromEntries(route.nulls.map((name) => [name, null])), ...(value as object) } : value

function inRestWords(type: GraphQLOutputType, node: FieldNode, value: unknown): unknown {
  const bare = getNullableType(type)
  if (value === null || value === undefined) return value
  if (isListType(bare)) return (value as unknown[]).map((item) => inRestWords(bare.ofType, node, item))
  if (isEnumType(bare)) return bare.getValue(value as string)!.value
  if (!isObjectType(bare)) return value
  const selected = (node.selectionSet?.selections ?? []).filter((each): each is FieldNode => each.kind === Kind.FIELD)
  const shown = selected.filter((each) => Object.hasOwn(value as object, each.name.value))
  return Object.fromEntries(
    shown.map((each) => {
      const name = each.name.value
      return [name, inRestWords(bare.getFields()[name]!.type, each, (value as Record<string, unknown>)[name])]
    }),
  )
}
