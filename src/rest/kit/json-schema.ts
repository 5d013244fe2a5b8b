import {
  type FieldNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from "graphql"
import { limitedType } from "../../graphql/texts.js"

/** A JSON Schema in the dialect of OpenAPI 3.1. */
export type JsonSchema = Record<string, unknown>

const builtIn: Record<string, JsonSchema> = {
  String: { type: "string" },
  Int: { type: "integer" },
  Float: { type: "number" },
  Boolean: { type: "boolean" },
  ID: { type: "string" },
  UUID: { type: "string", format: "uuid" },
  DateTime: { type: "string", format: "date-time" },
  JSON: {},
}

const leaf = (type: GraphQLNamedType): JsonSchema =>
  (type.extensions["jsonSchema"] as JsonSchema | undefined) ?? builtIn[type.name] ?? { type: "string" }

/** Gives the schemas of objects and enums their place: as components of a document, under one of the names, or where they are used. */
export interface ObjectSchemas {
  reference(names: readonly string[], schema: JsonSchema): JsonSchema
}

/** A name in the style of types: `getChats` is `GetChats`. */
export const asTypeName = (name: string) => name[0]!.toUpperCase() + name.slice(1)

/** Leaves the schemas of objects and enums where they are used. */
export const inPlace: ObjectSchemas = { reference: (_names, schema) => schema }

interface Described {
  description?: string | null
  type: GraphQLOutputType | GraphQLInputType
}

const wordsOf = ({ type }: Described) => getNamedType(type).extensions["restWords"] as Record<string, string> | undefined

/** The schema of a type without fields; that of an enum has a place. */
function leafIn(components: ObjectSchemas, type: GraphQLNamedType): JsonSchema {
  const schema = leaf(type)
  return schema["enum"] ? components.reference([type.name], schema) : schema
}

/** A description with the words of REST for the enum values of its own type and of those beside it: descriptions have the names of GraphQL. */
export function descriptionOf(described: Described, beside: readonly Described[]): string | undefined {
  const known = [wordsOf(described), ...beside.map(wordsOf)]
  const wordOf = (name: string) => known.find((words) => words && Object.hasOwn(words, name))?.[name]
  return described.description?.replace(/\b[A-Z][A-Z_]+\b/g, (name) => wordOf(name) ?? name)
}

/** Makes a schema accept null. */
function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema
  return { anyOf: [schema, { type: "null" }] }
}

/** The schema of an input type, without the idempotency key, which is no part of a body. */
export function inputSchema(type: GraphQLInputType, components: ObjectSchemas): JsonSchema {
  if (isNonNullType(type)) return bareInput(type.ofType, components)
  return orNull(bareInput(type, components))
}

function bareInput(type: GraphQLInputType, components: ObjectSchemas): JsonSchema {
  if (isNonNullType(type)) return bareInput(type.ofType, components)
  if (isListType(type)) return { type: "array", items: inputSchema(type.ofType, components) }
  if (!isInputObjectType(type)) return leafIn(components, type)
  const fields = Object.values(type.getFields()).filter(({ name }) => name !== "idempotencyKey")
  const properties = Object.fromEntries(
    fields.map((field) => [field.name, { ...inputSchema(limitedType(field), components), description: descriptionOf(field, fields) }]),
  )
  const required = fields.filter((field) => isNonNullType(field.type)).map((field) => field.name)
  const { description } = type
  return components.reference([type.name], {
    type: "object",
    ...(description && { description }),
    properties,
    ...(required.length > 0 && { required }),
  })
}

/** Where a selection is: the components, names for a selection other than the type's resource, and fields of objects that are null where they are not selected. */
export interface OutputPlace {
  components: ObjectSchemas
  names?: string[]
  nulls?: string[]
}

/** The schema of a selection on an output type; every field that is always selected is required. */
export function outputSchema(type: GraphQLOutputType, selection: SelectionSetNode | undefined, place: OutputPlace): JsonSchema {
  if (isNonNullType(type)) return bareOutput(type.ofType, selection, place)
  return orNull(bareOutput(type, selection, place))
}

function bareOutput(type: GraphQLOutputType, selection: SelectionSetNode | undefined, place: OutputPlace): JsonSchema {
  if (isNonNullType(type)) return bareOutput(type.ofType, selection, place)
  if (isListType(type)) return { type: "array", items: outputSchema(type.ofType, selection, place) }
  if (!isObjectType(type)) return leafIn(place.components, type)
  return place.components.reference([type.name, ...(place.names ?? [])], objectSchema(type, selection, place))
}

/** The schema of a selection on an object type, itself no component. */
export function objectSchema(type: GraphQLObjectType, selection: SelectionSetNode | undefined, { components, nulls = [] }: OutputPlace) {
  const fields = (selection?.selections ?? []).filter((node): node is FieldNode => node.kind === "Field")
  const beside = Object.values(type.getFields())
  const properties: Record<string, JsonSchema> = {}
  for (const node of fields) {
    const field = type.getFields()[node.name.value]!
    const schema = outputSchema(field.type, node.selectionSet, { components, names: [`${type.name}${asTypeName(field.name)}`] })
    properties[field.name] = { ...schema, description: descriptionOf(field, beside) }
  }
  // Typed on every route, also where it is null: generators know one type of an object then. At the end, so that each selection gives the same schema.
  for (const name of nulls) {
    const field = type.getFields()[name]!
    const typed = orNull({ $ref: `#/components/schemas/${getNamedType(field.type).name}` })
    const schema = properties[name] ?? { ...typed, description: descriptionOf(field, beside) }
    delete properties[name]
    properties[name] = schema
  }
  const conditional = fields.filter((node) => node.directives?.length && !nulls.includes(node.name.value)).map((node) => node.name.value)
  const { description } = type
  const required = Object.keys(properties).filter((name) => !conditional.includes(name))
  return { type: "object", ...(description && { description }), properties, required }
}
