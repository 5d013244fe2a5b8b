import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from "graphql"

/** The shape of an input: what a valid value of it looks like. `null`, which most optional inputs accept, is generated as a hostile value. */
export type Shape =
  | { kind: "text"; name: string; min: number; max: number }
  | { kind: "id"; of: string; isDeleted: boolean }
  | { kind: "choice"; name: string; values: string[]; isEnum: boolean }
  | { kind: "number"; name: string; isWhole: boolean; min?: number; max?: number }
  | { kind: "boolean" | "time" | "file" }
  | { kind: "json"; name: string }
  | { kind: "list"; item: Shape }
  | { kind: "object"; fields: Record<string, Field> }

/** A field of an object, or a parameter. */
export interface Field {
  shape: Shape
  isRequired: boolean
}

/** The types that the IDs of these names belong to. */
const typeOfId: Record<string, string> = {
  companyId: "Company",
  chatId: "Chat",
  assistantId: "Assistant",
  draftOfId: "Assistant",
  toolId: "AssistantTool",
  toolCallId: "ToolCall",
  managerId: "User",
  tagId: "ChatTag",
  tagIds: "ChatTag",
  fileId: "Media",
  mediaIds: "Media",
  textModelId: "TextModel",
  commentId: "ChatComment",
  replyToMessageId: "Message",
  tokenId: "AccessToken",
  serverId: "McpServer",
  webhookId: "EventWebhook",
  deliveryId: "EventDelivery",
}

/** An ID by its name; `owner` is the type that the operation is about. */
function idShape(name: string, owner: string, isDeletion: boolean): Shape {
  if (name === "folderId") return { kind: "id", of: owner.startsWith("Assistant") ? "AssistantFolder" : "ChatFolder", isDeleted: false }
  // Of a deletion with several IDs (a tag of a chat), no object is deleted.
  return { kind: "id", of: typeOfId[name] ?? owner, isDeleted: isDeletion && (name === "id" || name === "tokenId") }
}

/** The type that a root field is about. */
export function ownerOf({ name, type }: GraphQLField<unknown, unknown>): string {
  const returned = getNamedType(type).name
  const named = name.replace(/^(delete|test)/, "").replace(/^KnowledgeItem$/, "Knowledge")
  return /Result$/.test(returned) ? named : returned.replace(/(Page|Connection)$/, "")
}

/** An argument or a field of an input, with the length of its text in its description. */
interface Described {
  name: string
  type: GraphQLInputType
  description?: string | null
}

/** The arguments of a root field. */
export function argumentsOf(field: GraphQLField<unknown, unknown>): Shape {
  const owner = ownerOf(field)
  const isDeletion = /^(delete|revoke)/.test(field.name)
  const shapeOf = (type: GraphQLInputType, name: string, description: string): Shape => {
    const bare = getNullableType(type)
    if (isListType(bare)) return { kind: "list", item: shapeOf(bare.ofType, name, description) }
    if (isEnumType(bare)) return { kind: "choice", name, values: bare.getValues().map((value) => value.name), isEnum: true }
    if (isInputObjectType(bare)) return objectOf(Object.values(bare.getFields()))
    if (bare.name === "UUID") return idShape(name, owner, isDeletion)
    if (bare.name === "Int" || bare.name === "Float") return { kind: "number", name, isWhole: bare.name === "Int" }
    if (bare.name === "Boolean") return { kind: "boolean" }
    if (bare.name === "DateTime") return { kind: "time" }
    if (bare.name === "Upload") return { kind: "file" }
    if (bare.name === "JSON") return { kind: "json", name }
    const [, min = "0", most, max = most] = /Length(?: of each)?: (?:(\d+) to (\d+)|at most (\d+)) characters/.exec(description) ?? []
    return max ? { kind: "text", name, min: Number(min), max: Number(max) } : { kind: "text", name, min: 1, max: 100 }
  }
  const objectOf = (fields: readonly Described[]): Shape => ({
    kind: "object",
    fields: Object.fromEntries(
      fields.map(({ name, type, description }) => [
        name,
        { shape: shapeOf(type, name, description ?? ""), isRequired: isNonNullType(type) },
      ]),
    ),
  })
  return objectOf(field.args)
}

/** A JSON Schema of the OpenAPI document. */
export interface JsonSchema {
  type?: string
  format?: string
  enum?: string[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

/** The shape of a parameter or of a body; `owner` is the type of the route's resource. */
export function shapeOfSchema(schema: JsonSchema, name: string, owner: string, isDeletion = false): Shape {
  const bare = schema.anyOf?.find(({ type }) => type !== "null") ?? schema
  const { type, properties = {}, required = [] } = bare
  if (bare.enum) return { kind: "choice", name, values: bare.enum, isEnum: false }
  if (bare.format === "uuid") return idShape(name, owner, isDeletion)
  if (bare.format === "date-time") return { kind: "time" }
  if (type === "integer" || type === "number")
    return { kind: "number", name, isWhole: type === "integer", min: bare.minimum, max: bare.maximum }
  if (type === "boolean") return { kind: "boolean" }
  if (type === "array") return { kind: "list", item: shapeOfSchema(bare.items ?? {}, name, owner) }
  if (type === "string") return { kind: "text", name, min: bare.minLength ?? 1, max: bare.maxLength ?? 100 }
  if (type !== "object") return { kind: "json", name }
  const fields = Object.entries(properties).map(([field, each]) => [
    field,
    { shape: shapeOfSchema(each, field, owner), isRequired: required.includes(field) },
  ])
  return { kind: "object", fields: Object.fromEntries(fields) }
}
