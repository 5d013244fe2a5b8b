import type { FieldNode, OperationDefinitionNode } from "graphql"
import { contextLimits } from "../../context/limits.js"
import { descriptionOf, inPlace, inputSchema, type JsonSchema, outputSchema } from "../../rest/kit/json-schema.js"
import { placesOf, type VariablePlace } from "../../rest/kit/operation.js"
import { keyVariable, onlyReads, type Tool } from "./tool.js"

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  name: string
  title: string
  description: string
  inputSchema: JsonSchema & { type: "object" }
  outputSchema: JsonSchema & { type: "object" }
  annotations: {
    title: string
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
}

/** Describes a tool to clients, from its row and the GraphQL types of its operation. */
export function listedTool(tool: Tool): ListedTool {
  const { name, title, description, effects = {} } = tool
  const reads = onlyReads(tool)
  return {
    name,
    title,
    description,
    inputSchema: argumentsSchema(tool),
    outputSchema: resultSchema(tool),
    annotations: {
      title,
      readOnlyHint: reads,
      destructiveHint: !reads && Boolean(effects.replaces),
      idempotentHint: reads || Boolean(effects.repeatable),
      openWorldHint: Boolean(effects.leavesPlatform),
    },
  }
}

function argumentsSchema(tool: Tool): ListedTool["inputSchema"] {
  const places = placesOf(tool.operation)
  const variables = [...tool.operation.variables].filter(([name]) => name !== keyVariable)
  const properties = Object.fromEntries(variables.map(([name]) => [name, argumentSchema(tool, name, places.get(name))]))
  const required = variables.filter(([name, { required }]) => required || tool.nullable?.includes(name)).map(([name]) => name)
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

function argumentSchema(tool: Tool, name: string, place: VariablePlace | undefined): JsonSchema {
  const full = inputSchema(tool.operation.variables.get(name)!.type, inPlace)
  // An argument that is not wanted is left out.
  const bare = tool.nullable?.includes(name) ? full : withoutNull(full)
  // JSON of any kind has no type, which models need; what tools take as JSON is an object.
  const schema = Object.keys(bare).length > 0 ? bare : { type: "object" }
  const isPageSize = place?.isArgument && ["first", "take"].includes(place.at.name)
  const description = tool.arguments?.[name] ?? (place && descriptionOf(place.at, place.beside))
  if (!description) throw new Error(`MCP tool ${tool.name}: the argument ${name} needs a description`)
  return { ...schema, ...(isPageSize && { minimum: contextLimits.pageMin, maximum: contextLimits.pageMax }), description }
}

/** The schema of a result: the value of the root field, or an error, since clients hold both against it. */
function resultSchema({ operation: { document, root } }: Tool): ListedTool["outputSchema"] {
  const { selectionSet } = document.definitions[0] as OperationDefinitionNode
  const [field] = selectionSet.selections as [FieldNode]
  const value = withoutNull(outputSchema(root.type, field.selectionSet, { components: inPlace }))
  return { type: "object", anyOf: [value, errorSchema] }
}

/** A root field that is null is an error, and so is null for an argument that is not nullable. */
const withoutNull = (schema: JsonSchema): JsonSchema => (schema["anyOf"] as JsonSchema[] | undefined)?.[0] ?? schema

const errorSchema: JsonSchema = {
  type: "object",
  description: "Why the call failed, when isError is true; the message says how to correct it.",
  properties: {
    code: { type: "string" },
    statusCode: { type: "integer" },
    message: { type: "string" },
    details: {
      type: "array",
      items: {
        type: "object",
        description: "An argument, and what is wrong with it.",
        properties: { path: { type: "string" }, message: { type: "string" } },
        required: ["path", "message"],
      },
    },
    requestId: { type: "string" },
  },
  required: ["code", "statusCode", "message", "details", "requestId"],
}
