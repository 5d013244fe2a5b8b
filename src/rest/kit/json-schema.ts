import {
  type FieldNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from "graphql"

/** A JSON Schema in the dialect of OpenAPI 3.1. */
export type JsonSchema = Record<string, unknown>

const builtIn: Record<string, JsonSchema> = {
  String: { type: "string" },
  Int: { type: "integer" },
  Float: { type: "number" },
  Boolean: { type: "boolean" },
  ID: { type: "string" },
  UUID: { type: "string", format: "uuid" },
  Timestamp: { type: "string", format: "date-time" },
  JSON: {},
}

const leaf = (type: GraphQLNamedType): JsonSchema =>
  (type.extensions["jsonSchema"] as JsonSchema | undefined) ?? builtIn[type.name] ?? { type: "string" }

/** Makes a schema accept null. */
function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema
  return { anyOf: [schema, { type: "null" }] }
}

/** The schema of an input type; input objects are written inline. */
export function inputSchema(type: GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return bareInput(type.ofType)
  return orNull(bareInput(type))
}

function bareInput(type: GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return bareInput(type.ofType)
  if (isListType(type)) return { type: "array", items: inputSchema(type.ofType) }
  if (!isInputObjectType(type)) return leaf(type)
  const fields = Object.values(type.getFields())
  const properties = Object.fromEntries(
    fields.map((field) => [field.name, { ...inputSchema(field.type), description: field.description ?? undefined }]),
  )
  const required = fields.filter((field) => isNonNullType(field.type)).map((field) => field.name)
  return { type: "object", properties, ...(required.length > 0 && { required }) }
}

/** The schema of a selection on an output type; every selected field is required. */
export function outputSchema(type: GraphQLOutputType, selection: SelectionSetNode | undefined, nulls: string[] = []): JsonSchema {
  if (isNonNullType(type)) return bareOutput(type.ofType, selection, nulls)
  return orNull(bareOutput(type, selection, nulls))
}

function bareOutput(type: GraphQLOutputType, selection: SelectionSetNode | undefined, nulls: string[]): JsonSchema {
  if (isNonNullType(type)) return bareOutput(type.ofType, selection, nulls)
  if (isListType(type)) return { type: "array", items: outputSchema(type.ofType, selection, nulls) }
  if (!isObjectType(type)) return leaf(type)
  const fields = (selection?.selections ?? []).filter((node): node is FieldNode => node.kind === "Field")
  const properties: Record<string, JsonSchema> = {}
  for (const node of fields) {
    const field = type.getFields()[node.name.value]!
    const schema = outputSchema(field.type, node.selectionSet)
    properties[field.name] = { ...schema, ...(field.description && { description: field.description }) }
  }
  for (const name of nulls) {
    if (!properties[name]) properties[name] = { type: "null", description: type.getFields()[name]?.description ?? undefined }
  }
  return { type: "object", properties, required: Object.keys(properties) }
}
