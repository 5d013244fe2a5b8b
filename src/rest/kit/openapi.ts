import { STATUS_CODES } from "node:http"
import {
  type FieldNode,
  type GraphQLInputType,
  GraphQLNonNull,
  getNullableType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from "graphql"
import { contextLimits } from "../../context/limits.js"
import { textOf } from "../../graphql/text-arguments.js"
import { inputSchema, type JsonSchema, outputSchema } from "./json-schema.js"
import type { Operation } from "./operation.js"
import { isBesideFile } from "./variables.js"

const error: JsonSchema = {
  type: "object",
  description: "Error of a request; the message says how to correct it.",
  properties: {
    statusCode: { type: "integer" },
    error: { type: "string" },
    message: { type: "string" },
    code: { type: "string" },
    details: {
      type: "array",
      items: { type: "object", properties: { path: { type: "string" }, message: { type: "string" } }, required: ["path", "message"] },
    },
    requestId: { type: "string" },
  },
  required: ["statusCode", "error", "message", "code", "details", "requestId"],
}

/** What any route can answer: the database, or another service that the request needs, does not answer. */
const unavailable: JsonSchema = {
  description: STATUS_CODES[503],
  headers: {
    "Retry-After": {
      description: "Seconds to wait before the request is sent again.",
      required: true,
      schema: { type: "integer", minimum: 1 },
    },
  },
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
}

const securitySchemes = {
  "jwt-auth": { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "JWT of a signed-in user." },
  "access-token": { type: "apiKey", in: "header", name: "X-Access-Token", description: "Long-lived token of one company." },
}

/** `GET /version`, which is served without the schema. */
const versionOperation = {
  tags: ["Server"],
  summary: "The versions of the server, of Node.js and of the database's schema",
  operationId: "getVersion",
  security: [],
  parameters: [],
  responses: {
    200: {
      description: STATUS_CODES[200],
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              version: { type: "string", description: "Version of the server." },
              node: { type: "string", description: "Version of Node.js." },
              migration: { type: "string", description: "Name of the last migration of the database." },
            },
            required: ["version", "node", "migration"],
            additionalProperties: false,
          },
        },
      },
    },
  },
}

/** Generates the OpenAPI 3.1 document from the table and the types that serve the requests. */
export function openApiDocument(operations: Operation[], version: string): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const { method, path } = operation.route
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation) }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Assistant Messaging Platform",
      version,
      description: "AI assistants that answer the customers of a company, and an inbox for people.",
    },
    servers: [{ url: "/" }],
    paths: { ...paths, "/version": { get: versionOperation } },
    components: { securitySchemes, schemas: { Error: error }, responses: { ServiceUnavailable: unavailable } },
  }
}

function operationObject(operation: Operation): JsonSchema {
  const { route, rule } = operation
  const status = route.status ?? (route.method === "POST" ? 201 : 200)
  const failures = new Set([
    ...(rule === "public" ? [] : [401]),
    ...(hasInput(operation) ? [400] : []),
    // A read-only access token.
    ...(route.method !== "GET" && (rule === "company" || rule === "visitor") ? [403] : []),
    ...(route.idempotent ? [409, 422] : []),
    ...(route.body || route.multipart ? [413, 415] : []),
    ...(route.errorStatuses ?? []),
    429,
  ])
  const refusals = [...failures]
    .sort()
    .map((code) => [code, { description: STATUS_CODES[code], content: json({ $ref: "#/components/schemas/Error" }) }])
  const security =
    rule === "public" ? [] : rule === "user" || rule === "manager" ? [{ "jwt-auth": [] }] : [{ "jwt-auth": [] }, { "access-token": [] }]
  return {
    tags: [route.tag],
    summary: route.summary,
    operationId: `${route.method.toLowerCase()}${route.path.replace(/\/api|[{}]/g, "").replace(/[/-]+(\w)/g, (_all, first: string) => first.toUpperCase())}`,
    security,
    parameters: parameters(operation),
    ...(route.multipart && { requestBody: { required: true, content: fileForm(route.multipart) } }),
    ...(route.body && { requestBody: { required: true, content: json(bodySchema(operation)) } }),
    responses: {
      [status]: { description: STATUS_CODES[status], content: json(responseSchema(operation)) },
      ...Object.fromEntries(refusals),
      503: { $ref: "#/components/responses/ServiceUnavailable" },
    },
  }
}

const fileForm = (name: string) => ({
  "multipart/form-data": { schema: { type: "object", properties: { [name]: { type: "string", format: "binary" } }, required: [name] } },
})
const json = (schema: JsonSchema) => ({ "application/json": { schema } })
const idempotencyDescription = "A repetition of the request with the same key within 24 hours returns the first response."
const hasInput = ({ variables }: Operation) => variables.size > 0
const nameOf = ({ route }: Operation, variable: string) => route.rename?.[variable] ?? variable
const pathNames = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)

/** The argument of the root field that a variable of the operation is passed to. */
function argumentOf({ document, root }: Operation, variable: string) {
  const [field] = (document.definitions[0] as OperationDefinitionNode).selectionSet.selections as FieldNode[]
  const match = field!.arguments?.find(({ value }) => value.kind === Kind.VARIABLE && value.name.value === variable)
  return root.args.find((arg) => arg.name === match?.name.value)
}

function parameters(operation: Operation): JsonSchema[] {
  const { route, variables } = operation
  const inPath = pathNames(route.path)
  const list: JsonSchema[] = [...variables].flatMap(([variable, { type, required }]) => {
    const name = nameOf(operation, variable)
    const description = argumentOf(operation, variable)?.description ?? undefined
    if (inPath.includes(name)) return [{ name, in: "path", required: true, schema: inputSchema(type), description }]
    if (route.multipart && !isBesideFile(route, variable)) return []
    if (route.body || Object.values(route.include ?? {}).includes(variable)) return []
    const bare = inputSchema(isNonNullType(type) ? type : (getNullableType(type) as never))
    const schema = (bare["anyOf"] as JsonSchema[] | undefined)?.[0] ?? bare
    const sized = name === "take" ? { ...schema, minimum: contextLimits.pageMin, maximum: contextLimits.pageMax } : schema
    return [{ name, in: "query", required, schema: sized, description }]
  })
  if (route.idempotent)
    list.push({ name: "Idempotency-Key", in: "header", required: false, schema: { type: "string" }, description: idempotencyDescription })
  if (!route.include) return list
  const description = `Comma-separated list of ${Object.keys(route.include).join(", ")}.`
  return [...list, { name: "include", in: "query", required: false, schema: { type: "string" }, description }]
}

function bodySchema(operation: Operation): JsonSchema {
  const { route, variables } = operation
  if (route.body !== "fields") return withoutKey(inputSchema(variables.get(route.body!)!.type))
  const inPath = pathNames(route.path)
  const fields = [...variables].filter(([variable]) => !inPath.includes(variable))
  const required = fields.filter(([name, { required }]) => required || route.requiredFields?.includes(name)).map(([name]) => name)
  const propertySchema = (name: string, type: GraphQLInputType) => {
    const argument = argumentOf(operation, name)
    const text = textOf(argument)
    const schema = inputSchema(text ? (isNonNullType(type) ? new GraphQLNonNull(text) : text) : type)
    return { ...schema, description: argument?.description ?? undefined }
  }
  const properties = Object.fromEntries(fields.map(([name, { type }]) => [name, propertySchema(name, type)]))
  return { type: "object", properties, ...(required.length > 0 && { required }) }
}

/** Removes the idempotency key, which REST takes from a header. */
function withoutKey(schema: JsonSchema): JsonSchema {
  const { idempotencyKey: _header, ...properties } = schema["properties"] as Record<string, JsonSchema>
  return { ...schema, properties }
}

function responseSchema(operation: Operation): JsonSchema {
  const { route, document, root } = operation
  const definition = document.definitions[0] as OperationDefinitionNode
  const field = definition.selectionSet.selections[0] as FieldNode
  if (!route.page) {
    const schema = outputSchema(root.type, field.selectionSet, route.nulls)
    // A root field that is null is an error on REST.
    return (schema["anyOf"] as JsonSchema[] | undefined)?.[0] ?? schema
  }
  const type = getNullableType(root.type)
  const selected = (name: string) =>
    field.selectionSet!.selections.find((node): node is FieldNode => node.kind === "Field" && node.name.value === name)
  const [nodes, stats] = [selected("nodes")!, selected("stats")]
  if (!isObjectType(type)) throw new Error(`${route.path} does not return a page`)
  const items = outputSchema(type.getFields()["nodes"]!.type, nodes.selectionSet, route.nulls)
  const properties = {
    data: items,
    totalCount: { type: ["integer", "null"] },
    nextCursor: { type: ["string", "null"] },
    ...(stats && { stats: outputSchema(type.getFields()["stats"]!.type, stats.selectionSet) }),
  }
  return { type: "object", properties, required: Object.keys(properties) }
}
