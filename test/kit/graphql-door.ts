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
import type { Credential } from "./doors.js"
import type { World } from "./world.js"

/** What a door answered, as REST says it. */
export interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: as the route shapes it.
  body: any
}

/** A request on its way: supertest's, or one that looks like it. */
export interface Asked extends PromiseLike<Answer> {
  expect(status: number, body?: unknown): Asked
  set(header: string, value: string): Asked
}

/** A door that takes REST's requests. */
export interface Door {
  as(credential: Credential): {
    get(path: string): Asked
    post(path: string, body?: unknown): Asked
    put(path: string, body?: unknown): Asked
    patch(path: string, body?: unknown): Asked
    delete(path: string): Asked
  }
}

/**
 * Both doors by name, for `describe.each`: a story that is told of REST is told of GraphQL too, by asking the route's root field for what
 * the request says and turning the answer into REST's words.
 * @example describe.each(doors)("over %s", (_name, door) => { const w = world(); const rest = door(w) … })
 */
export const doors: [string, (world: World) => Door][] = [
  ["REST", (world) => world.rest as unknown as Door],
  ["GraphQL", graphqlDoor],
]

let schema: GraphQLSchema | undefined

/** GraphQL behind REST's addresses. What it answers is held against the OpenAPI document, as REST's own answers are. */
function graphqlDoor(world: World): Door {
  return {
    as(credential) {
      const ask = (method: Route["method"], path: string, body?: unknown) => new AskedOfGraphql(world, credential, method, path, body)
      return {
        get: (path) => ask("GET", path),
        post: (path, body) => ask("POST", path, body),
        put: (path, body) => ask("PUT", path, body),
        patch: (path, body) => ask("PATCH", path, body),
        delete: (path) => ask("DELETE", path),
      }
    },
  }
}

class AskedOfGraphql implements Asked {
  private readonly checks: ((answer: Answer) => void)[] = []
  private key: string | undefined

  constructor(
    private readonly world: World,
    private readonly credential: Credential,
    private readonly method: Route["method"],
    private readonly path: string,
    private readonly body: unknown,
  ) {}

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

  // biome-ignore lint/suspicious/noThenProperty: supertest's requests are awaited as they are.
  then<A, B>(whenDone?: ((answer: Answer) => A | PromiseLike<A>) | null, whenFailed?: ((error: unknown) => B | PromiseLike<B>) | null) {
    return this.ask().then(whenDone, whenFailed)
  }

  private async ask(): Promise<Answer> {
    schema = platformSchema(this.world.services.database.orm)
    const [address, query = ""] = this.path.split("?") as [string, string?]
    const route = routeOf(this.method, address)
    const document = parse(route.run).definitions[0] as OperationDefinitionNode
    const given = this.variables(route, document, address, new URLSearchParams(query))
    const { headers, data, errors } = await this.world.gql(this.credential, route.run, given)
    const [error] = errors ?? []
    if (error?.extensions.statusCode === 500) throw new Error(`GraphQL for ${this.path} → 500\n${JSON.stringify(this.world.logged.at(-1))}`)
    const answer = error ? refusal(route, error) : success(route, document, data)
    this.world.fits(this.method.toLowerCase(), this.path, { ...answer, headers: { "content-type": "application/json" } })
    for (const check of this.checks) check({ ...answer, headers })
    return { ...answer, headers }
  }

  /** What the request says, as the variables of the route's operation. */
  private variables(route: Route, document: OperationDefinitionNode, address: string, query: URLSearchParams) {
    const inPath = parametersOf(route, address)
    const values: Record<string, unknown> = {}
    for (const { variable, type: node } of document.variableDefinitions ?? []) {
      const name = variable.name.value
      const type = typeFromAST(schema!, node as never) as GraphQLInputType
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
  // A literal address before one with parameters.
  const [route] = fits.sort((a, b) => a.path.split("{").length - b.path.split("{").length)
  if (!route) throw new Error(`No route is ${method} ${address}`)
  return route
}

function parametersOf(route: Route, address: string): Record<string, string> {
  const [, ...values] = patternOf(route).exec(address)!
  return Object.fromEntries([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name], index) => [name!, decodeURIComponent(values[index]!)]))
}

/** A text of the query string as GraphQL takes it; what is no number or truth stays a text, which GraphQL refuses as REST does. */
function fromText(type: GraphQLInputType, text: string | null): unknown {
  if (text === null) return undefined
  const { name } = getNamedType(type)
  if (name === "Int" && /^-?\d+$/.test(text)) return Number(text)
  if (name === "Boolean" && (text === "true" || text === "false")) return text === "true"
  return text
}

/** A value in GraphQL's spelling, without what no input declares. GraphQL's own spelling, which is wrong on REST, becomes REST's, which is wrong here. */
function spelled(type: GraphQLInputType, value: unknown): unknown {
  const bare = getNullableType(type)
  if (isListType(bare)) return Array.isArray(value) ? value.map((item) => spelled(bare.ofType, item)) : value
  if (isEnumType(bare)) return wordsOf(bare).find(({ word }) => word === value)?.name ?? bare.getValue(String(value))?.value ?? value
  if (!isInputObjectType(bare) || typeof value !== "object" || value === null || Array.isArray(value)) return value
  const declared = Object.entries(bare.getFields()).filter(([name]) => Object.hasOwn(value, name))
  return Object.fromEntries(declared.map(([name, field]) => [name, spelled(field.type, (value as Record<string, unknown>)[name])]))
}

const wordsOf = (type: GraphQLEnumType) => type.getValues().map(({ name, value }) => ({ name, word: value as string }))

/** GraphQL's error as REST's. */
function refusal(route: Route, { message, extensions }: NonNullable<Awaited<ReturnType<World["gql"]>>["errors"]>[number]) {
  const { statusCode, code, requestId } = extensions
  const details = (extensions.details as { path: string; message: string }[]).map((detail) => {
    const path = route.body && detail.path.startsWith(`${route.body}.`) ? detail.path.slice(route.body.length + 1) : detail.path
    return { ...detail, path: route.rename?.[path] ?? path }
  })
  return { status: statusCode as number, body: { statusCode, error: STATUS_CODES[statusCode], message, code, details, requestId } }
}

/** GraphQL's data as REST's answer. */
function success(route: Route, document: OperationDefinitionNode, data: Record<string, unknown>) {
  const root = document.selectionSet.selections[0] as FieldNode
  const type = schema!.getRootType(document.operation)!.getFields()[root.name.value]!.type
  const value = inRestWords(type, root, data[root.name.value])
  return {
    status: route.status ?? (route.method === "POST" ? 201 : 200),
    body: route.page ? pageOf(route, value as never) : whole(route, value),
  }
}

function pageOf(
  route: Route,
  { nodes, totalCount, pageInfo, stats }: { nodes: unknown[]; totalCount?: number; pageInfo?: Record<string, unknown>; stats?: object },
) {
  const nextCursor = pageInfo?.["hasNextPage"] ? pageInfo["endCursor"] : null
  return { data: nodes.map((node) => whole(route, node)), totalCount: totalCount ?? null, nextCursor, ...(stats && { stats }) }
}

/** With null for what was not asked for. */
const whole = (route: Route, value: unknown) =>
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
