import { isDeepStrictEqual } from "node:util"
import type { CallToolResult } from "@modelcontextprotocol/client"
import { storableJson, storableText } from "../../entities/kit/storable.js"
import { portLimits } from "../limits.js"
import type { McpPicture } from "../mcp.js"

/** The result of a tool as the log and the model get it. */
export interface ReadResult {
  success: boolean
  body: unknown
  error: string | null
  pictures: McpPicture[]
}

/** Reads a result: texts are joined, structured content is JSON, pictures are kept apart, and what a model cannot read is named. */
export function resultOf({ content, structuredContent, isError }: CallToolResult): ReadResult {
  const parts = content ?? []
  const pictures = parts.flatMap((part) => (part.type === "image" ? [pictureOf(part)] : [])).slice(0, portLimits.mcpPictures)
  const text = cut(parts.flatMap(textOf).join("\n"))
  const body = bodyOf(text, storableJson(structuredContent ?? null))
  return { success: !isError, body, error: isError ? "The tool reported an error" : null, pictures }
}

/** Structured content is not repeated as text, which servers add for clients that cannot read it. */
function bodyOf(text: string, structured: unknown): unknown {
  if (structured === null) return text === "" ? null : text
  const written = JSON.stringify(structured)
  if (Buffer.byteLength(written) > portLimits.mcpTextBytes) return cut(written)
  return text === "" || isDeepStrictEqual(jsonOf(text), structured) ? structured : { text, structuredContent: structured }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As much of a text as the log keeps of a webhook's response. */
function cut(text: string): string {
  const bytes = Buffer.from(storableText(text))
  return bytes.length <= portLimits.mcpTextBytes
    ? bytes.toString()
    : new TextDecoder().decode(bytes.subarray(0, portLimits.mcpTextBytes), { stream: true })
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
