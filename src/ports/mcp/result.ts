import type { CallToolResult } from "@modelcontextprotocol/client"
import { portLimits } from "../limits.js"
import type { McpPicture, McpResult } from "../mcp.js"

/** Reads a result: texts are joined, pictures are kept apart, and what a model cannot read is named. */
export function resultOf({ content, structuredContent, isError }: CallToolResult): Omit<McpResult, "status"> {
  const parts = content ?? []
  const pictures = parts.flatMap((part) => (part.type === "image" ? [pictureOf(part)] : [])).slice(0, portLimits.mcpPictures)
  return { isError: isError === true, text: parts.flatMap(textOf).join("\n"), structured: structuredContent ?? null, pictures }
}

type Part = NonNullable<CallToolResult["content"]>[number]

function textOf(part: Part): string[] {
  if (part.type === "text") return [part.text]
  if (part.type === "resource") return ["text" in part.resource ? part.resource.text : `[file: ${part.resource.uri}]`]
  if (part.type === "resource_link") return [`[link: ${part.name} ${part.uri}]`]
  if (part.type === "audio") return [`[audio: ${part.mimeType}]`]
  return []
}

const pictureOf = ({ data, mimeType }: { data: string; mimeType: string }): McpPicture => ({ bytes: Buffer.from(data, "base64"), mimeType })
