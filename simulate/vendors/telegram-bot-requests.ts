import type { VendorAnswer, VendorCall } from "../kit/vendor-server.js"

/** Method, field of its file, and largest file in bytes. */
export const uploads: Record<string, [field: string, bytes: number]> = {
  sendPhoto: ["photo", 10 * 1024 * 1024],
  sendVideo: ["video", 50 * 1024 * 1024],
  sendAnimation: ["animation", 50 * 1024 * 1024],
  sendAudio: ["audio", 50 * 1024 * 1024],
  sendVoice: ["voice", 50 * 1024 * 1024],
  sendDocument: ["document", 50 * 1024 * 1024],
}

/** A response to a request that succeeded. */
export const answer = (result: unknown): VendorAnswer => ({ json: { ok: true, result } })
/** The response to a request that failed. */
export const refusal = (error_code: number, description: string, parameters?: unknown): VendorAnswer => ({
  status: error_code,
  json: { ok: false, error_code, description, ...(parameters !== undefined && { parameters }) },
})
/** The response to a request that Telegram cannot do. */
export const bad = (words: string, parameters?: unknown) => refusal(400, `Bad Request: ${words}`, parameters)

/** Parameters of a method. */
export type Fields = Record<string, unknown>

/** A file of a request. */
export class Uploaded {
  constructor(
    readonly filename: string,
    readonly bytes: Buffer,
  ) {}
}

/** The parameters of a method, from JSON or a multipart form; null when they cannot be read. */
export async function fieldsOf(call: VendorCall): Promise<Fields | null> {
  const type = call.headers["content-type"] ?? ""
  if (!type.startsWith("multipart/form-data")) return typeof call.json === "object" ? (call.json as Fields | null) : null
  const fields: Fields = {}
  for (const [name, value] of await call.form()) {
    if (typeof value !== "string") fields[name] = new Uploaded(value.name, Buffer.from(await value.arrayBuffer()))
    else fields[name] = name === "reply_parameters" ? JSON.parse(value) : value
  }
  return fields
}

/** The refusal of a text, or null. */
export function refusesText(text: unknown): VendorAnswer | null {
  if (typeof text !== "string" || text.trim() === "") return bad("message text is empty")
  return text.length > 4096 ? bad("message is too long") : null
}

/** The refusal of a file with its caption, or null. */
export function refusesFile(method: string, file: unknown, most: number, caption: unknown): VendorAnswer | null {
  if (!(file instanceof Uploaded)) return bad(`there is no ${uploads[method]![0]} in the request`)
  if (file.bytes.length === 0) return bad("file must be non-empty")
  if (file.bytes.length > 50 * 1024 * 1024) return refusal(413, "Request Entity Too Large")
  if (file.bytes.length > most) return bad("file is too big")
  if (typeof caption === "string" && caption.length > 1024) return bad("message caption is too long")
  if (method !== "sendPhoto") return null
  const size = sizeOfPng(file.bytes)
  return size && size.width + size.height > 10_000 ? bad("PHOTO_INVALID_DIMENSIONS") : null
}

/** Width and height, which stand in the first chunk of a PNG; null for other files. */
const sizeOfPng = (bytes: Buffer) =>
  bytes.length >= 24 && bytes.toString("latin1", 1, 4) === "PNG" ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : null
