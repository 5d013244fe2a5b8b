import { STATUS_CODES } from "node:http"
import {
  type FieldNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  parse,
} from "graphql"
import { contextLimits } from "../../src/context/limits.js"
import { oncePer } from "../../src/once-per.js"
import { resourceOf, withFields } from "../../src/rest/kit/fragments.js"
import { asTypeName, descriptionOf, inputSchema, type JsonSchema, objectSchema, outputSchema } from "../../src/rest/kit/json-schema.js"
import { type Operation, placesOf } from "../../src/rest/kit/operation.js"
import { isBesideFile } from "../../src/rest/kit/variables.js"
import { resources } from "../../src/rest/resources.js"
import type { Recording } from "../examples/player.js"
import { Components } from "./components.js"
import { addExamples } from "./examples.js"
import { answerHeaders, errorDetail, errorSchema, headers, refusalOf, refusals, securitySchemes, versionOperation } from "./shared.js"

/** Version of the API. */
const version = "1.0"

/** Generates the OpenAPI 3.1 document from the table and the types that serve the requests, with what a server answered as examples. */
export function openApiDocument(operations: Operation[], recording: Recording): JsonSchema {
  const { schema } = operations[0]!
  const components = new Components(Object.keys(resources))
  components.reference(["ErrorDetail"], errorDetail)
  components.reference(["Error"], errorSchema)
  for (const type of Object.keys(resources)) defineResource(components, schema, type)
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const { method, path } = operation.route
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation, components) }
  }
  paths["/version"] = { get: versionOperation(components) }
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Assistant Messaging Platform",
      version,
      description: "AI assistants that answer the customers of a company, and an inbox for people.",
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The Assistant Messaging Platform authors" },
    },
    tags: [...new Set([...operations.map(({ route }) => route.tag), "Server"])].map((name) => ({ name })),
    servers: [{ url: "/" }],
    paths,
    components: { securitySchemes, schemas: components.usedBy([paths, refusals]), responses: refusals, headers },
  }
  addExamples(document, recording)
  return document
}

/** Defines the component of a resource, and before it those of the resources in it. */
function defineResource(components: Components, schema: GraphQLSchema, name: string) {
  if (components.has(name)) return
  const { fields, nulls } = resourceOf(name)
  for (const [, inner] of fields.matchAll(/\.\.\.(\w+)/g)) defineResource(components, schema, inner!)
  const [{ selectionSet }] = parse(`{ ${withFields(fields)} }`).definitions as [OperationDefinitionNode]
  components.define(name, objectSchema(schema.getType(name) as GraphQLObjectType, selectionSet, { components, nulls }))
}

function operationObject(operation: Operation, components: Components): JsonSchema {
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
    // The database, or another service that the request needs, does not answer.
    503,
  ])
  const security =
    rule === "public" ? [] : rule === "user" || rule === "manager" ? [{ "jwt-auth": [] }] : [{ "jwt-auth": [] }, { "access-token": [] }]
  return {
    tags: [route.tag],
    summary: route.summary,
    description: route.summary,
    operationId: operationId(operation),
    security,
    parameters: parameters(operation, components),
    ...(route.multipart && { requestBody: { required: true, content: fileForm(route.multipart) } }),
    ...(route.body && { requestBody: { required: true, content: json(bodySchema(operation, components)) } }),
    responses: {
      [status]: {
        description: STATUS_CODES[status],
        headers: answerHeaders(route),
        content: { ...json(responseSchema(operation, components)), ...(route.csv && csv) },
      },
      ...Object.fromEntries([...failures].sort().map((code) => [code, refusalOf(code)])),
    },
  }
}

const operationId = ({ route }: Operation) =>
  `${route.method.toLowerCase()}${route.path.replace(/\/api|[{}]/g, "").replace(/[/-]+(\w)/g, (_all, first: string) => first.toUpperCase())}`

const fileForm = (name: string) => ({
  "multipart/form-data": { schema: { type: "object", properties: { [name]: { type: "string", format: "binary" } }, required: [name] } },
})
const csv = { "text/csv": { schema: { type: "string", description: "All rows, with a line of column names." } } }
const json = (schema: JsonSchema) => ({ "application/json": { schema } })
const idempotencyDescription = "A repetition of the request with the same key within 24 hours returns the first response."
const hasInput = ({ variables }: Operation) => variables.size > 0
const nameOf = ({ route }: Operation, variable: string) => route.rename?.[variable] ?? variable
const pathNames = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)

const placesByOperation = oncePer(placesOf)

/** The argument of the root field that a variable of the operation is passed to. */
function argumentOf(operation: Operation, variable: string) {
  const place = placesByOperation(operation).get(variable)
  return operation.root.args.find((arg) => arg === place?.at)
}

function parameters(operation: Operation, components: Components): JsonSchema[] {
  const { route, variables } = operation
  const inPath = pathNames(route.path)
  const list: JsonSchema[] = [...variables].flatMap(([variable, { type, required }]) => {
    const name = nameOf(operation, variable)
    const argument = argumentOf(operation, variable)
    const description = argument && descriptionOf(argument, operation.root.args)
    if (inPath.includes(name)) return [{ name, in: "path", required: true, schema: inputSchema(type, components), description }]
    if (route.multipart && !isBesideFile(route, variable)) return []
    if (route.body || Object.values(route.include ?? {}).includes(variable)) return []
    const bare = inputSchema(isNonNullType(type) ? type : (getNullableType(type) as never), components)
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

function bodySchema(operation: Operation, components: Components): JsonSchema {
  const { route, variables } = operation
  if (route.body !== "fields") return inputSchema(variables.get(route.body!)!.type, components)
  const inPath = pathNames(route.path)
  const fields = [...variables].filter(([variable]) => !inPath.includes(variable))
  const required = fields.filter(([name, { required }]) => required || route.requiredFields?.includes(name)).map(([name]) => name)
  const propertySchema = (name: string, type: GraphQLInputType) => {
    const argument = argumentOf(operation, name)
    return { ...inputSchema(type, components), description: argument && descriptionOf(argument, operation.root.args) }
  }
  const properties = Object.fromEntries(fields.map(([name, { type }]) => [name, propertySchema(name, type)]))
  const schema = { type: "object", properties, ...(required.length > 0 && { required }) }
  return components.reference([`${asTypeName(operationId(operation))}Body`], schema)
}

function fieldTypeOf(type: GraphQLOutputType, field: string): GraphQLOutputType {
  const object = getNamedType(type)
  if (!isObjectType(object)) throw new Error(`${object} has no fields`)
  return object.getFields()[field]!.type
}

function responseSchema(operation: Operation, components: Components): JsonSchema {
  const { route, document, root } = operation
  const definition = document.definitions[0] as OperationDefinitionNode
  const field = definition.selectionSet.selections[0] as FieldNode
  const { nulls } = route
  const of = asTypeName(operationId(operation))
  const selected = (name: string) =>
    field.selectionSet!.selections.find((node): node is FieldNode => node.kind === "Field" && node.name.value === name)
  if (!route.page) {
    const place = { components, names: [`${of}Result`], nulls }
    const schema = route.field
      ? outputSchema(fieldTypeOf(root.type, route.field), selected(route.field)!.selectionSet, place)
      : outputSchema(root.type, field.selectionSet, place)
    // A root field that is null is an error on REST.
    return (schema["anyOf"] as JsonSchema[] | undefined)?.[0] ?? schema
  }
  const type = getNullableType(root.type)
  const [nodes, stats] = [selected("nodes")!, selected("stats")]
  if (!isObjectType(type)) throw new Error(`${route.path} does not return a page`)
  const place = { components, names: [`${getNamedType(type.getFields()["nodes"]!.type).name}Summary`, `${of}Item`], nulls }
  const items = outputSchema(type.getFields()["nodes"]!.type, nodes.selectionSet, place)
  const properties = {
    data: items,
    totalCount: { anyOf: [{ type: "integer" }, { type: "null" }] },
    nextCursor: { anyOf: [{ type: "string" }, { type: "null" }] },
    ...(stats && { stats: outputSchema(type.getFields()["stats"]!.type, stats.selectionSet, { components }) }),
  }
  const page = { type: "object", properties, required: Object.keys(properties) }
  return components.reference([`${Components.nameOf(items)}Page`, `${of}Page`], page)
}
