import type { RequestContext } from "../../context/request-context.js"
import { shownErrors } from "../../graphql/engine.js"
import { rootValue } from "../../rest/kit/operation.js"
import { variablesOf } from "./arguments.js"
import type { Tool } from "./tool.js"

/** The result of a call: an object, and the same as JSON text for clients that read only text. */
export type ToolResult = {
  content: { type: "text"; text: string }[]
  structuredContent: Record<string, unknown>
  isError?: true
}

const resultOf = (value: unknown): ToolResult => {
  const text = JSON.stringify(value)
  // Parsed, because the compiled operation sets a field that was not included to undefined.
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) }
}

/** Runs the operation of a tool; an error is a result with the code, the message and the details of the contract. */
export async function callTool(
  tool: Tool,
  context: RequestContext,
  given: Record<string, unknown>,
  meta?: Record<string, unknown>,
): Promise<ToolResult> {
  try {
    return resultOf(rootValue(await tool.operation.run(context, variablesOf(tool, given, meta))))
  } catch (error) {
    const { message, extensions } = shownErrors(error, context.request)[0]!
    const { code, statusCode, details, requestId } = extensions
    return { ...resultOf({ code, statusCode, message, details, requestId }), isError: true }
  }
}
