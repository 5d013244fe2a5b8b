import { isDeepStrictEqual } from "node:util"
import { storableJson, storableText } from "../entities/kit/storable.js"
import type { Media } from "../entities/media.js"
import type { ToolOutcome } from "../entities/tool-call.js"
import type { McpFailure, McpResult } from "../ports/mcp.js"
import { mcpServerLimits } from "./limits.js"

/** The outcome of a call whose result arrived, with its pictures that are stored. */
export function outcomeOf(result: McpResult, pictures: Media[], latencyMs: number): ToolOutcome {
  const { isError, text, structured, status } = result
  const error = isError ? "The tool reported an error" : null
  const body = bodyOf(cut(storableText(text)), storableJson(structured))
  const outcome = { success: !isError, status, latencyMs, error }
  if (result.pictures.length === 0) return { ...outcome, body }
  const shown = pictures.map(({ id, mimeType }) => ({ mediaId: id, mimeType }))
  const left = result.pictures.length - pictures.length
  const withPictures = { ...(body !== null && { result: body }), pictures: shown, ...(left > 0 && { picturesLeftOut: left }) }
  return { ...outcome, body: withPictures, ...(pictures.length > 0 && { mediaIds: pictures.map(({ id }) => id) }) }
}

/** The outcome of a call without a result. */
export const failed = ({ message, status }: Pick<McpFailure, "message" | "status">, latencyMs = 0): ToolOutcome => ({
  success: false,
  status,
  latencyMs,
  body: null,
  error: message,
})

/** Structured content is not repeated as text, which servers add for clients that cannot read it. */
function bodyOf(text: string, structured: unknown): unknown {
  if (structured === null) return text === "" ? null : text
  const written = JSON.stringify(structured)
  if (Buffer.byteLength(written) > mcpServerLimits.keptBytes) return cut(written)
  return text === "" || isDeepStrictEqual(jsonOf(text), structured) ? structured : { text, structuredContent: structured }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As much of a text as the log keeps. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mcpServerLimits.keptBytes) return text
  return new TextDecoder().decode(bytes.subarray(0, mcpServerLimits.keptBytes), { stream: true })
}
