import type { VendorAnswer } from "../kit/vendor-server.js"
import { type Fields, fieldsOf, refusal, type Upload } from "./meta.js"

const MB = 1024 * 1024

/** Kinds of messages with a file. */
export const mediaKinds = new Set(["image", "video", "audio", "document", "sticker"])

/** Types that an upload can have, with the largest size. */
const types: Record<string, number> = {
  ...sized(5 * MB, ["image/jpeg", "image/png"]),
  ...sized(16 * MB, ["video/mp4", "video/3gpp", "audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"]),
  ...sized(100 * MB, ["text/plain", "application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"]),
  ...sized(100 * MB, [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  ]),
}

function sized(bytes: number, names: string[]) {
  return Object.fromEntries(names.map((name) => [name, bytes]))
}

/** The refusal of an upload, or null. */
export function uploadFault(form: FormData): VendorAnswer | null {
  const file = form.get("file")
  if (form.get("messaging_product") !== "whatsapp") return refusal(100, "The parameter messaging_product is required.")
  if (!(file instanceof File)) return refusal(100, "The parameter file is required.")
  const most = file.type === form.get("type") ? types[file.type] : undefined
  if (most === undefined) {
    const words = `Param file must be a file with one of the following types: ${Object.keys(types).join(", ")}.`
    return refusal(100, `${words} Received file of type '${file.type}'.`)
  }
  return file.size > 0 && file.size <= most ? null : refusal(131053, "Media upload error", { details: `The size is ${file.size} bytes` })
}

/** What a message can refer to. */
interface Known {
  uploads: ReadonlyMap<string, Upload>
  templates: ReadonlyMap<string, string>
  messages: ReadonlyMap<string, string | null>
}

const invalid = (details: string) => refusal(131009, "Parameter value is not valid", { details })
const length = (name: string, most: number) => refusal(100, `Param ${name} must be at most ${most} characters long.`)

/** The refusal of a message by its form, or null. */
export function contentFault(request: Fields, known: Known): VendorAnswer | null {
  const type = String(request["type"])
  const data = request["biz_opaque_callback_data"]
  const quoted = fieldsOf(request["context"])["message_id"]
  if (data !== undefined && (typeof data !== "string" || data.length > 512)) return length("biz_opaque_callback_data", 512)
  if (quoted !== undefined && !known.messages.has(String(quoted))) return invalid("context.message_id is not known")
  return addressFault(request) ?? typeFault(type, fieldsOf(request[type]), known)
}

function addressFault({ to, recipient, recipient_type: kind }: Fields): VendorAnswer | null {
  if ((to === undefined) === (recipient === undefined)) return refusal(100, "The parameter to is required.")
  const isRight =
    to === undefined ? /^[A-Z]{2}\.(ENT\.)?\w+$/.test(String(recipient)) : kind === "group" || /^\+?\d{6,15}$/.test(String(to))
  return isRight ? null : invalid("The recipient is not valid")
}

function typeFault(type: string, content: Fields, { uploads, templates }: Known): VendorAnswer | null {
  if (type === "text") {
    const body = content["body"]
    if (typeof body !== "string" || body === "") return refusal(100, "The parameter text['body'] is required.")
    return body.length > 4096 ? length("text['body']", 4096) : null
  }
  if (type === "template") {
    const language = fieldsOf(content["language"])["code"]
    if (templates.get(String(content["name"])) === language) return null
    return refusal(132001, "Template name does not exist in the translation", { details: `template name (${content["name"]})` })
  }
  if (!mediaKinds.has(type)) return refusal(131051, "Unsupported message type")
  const upload = uploads.get(String(content["id"]))
  const { caption } = content
  if (!upload || (type !== "document" && !upload.type.startsWith(`${type}/`))) return invalid(`${type}.id is not a ${type}`)
  if (caption !== undefined && type === "audio") return refusal(100, "Unexpected key 'caption' on param 'audio'.")
  return typeof caption === "string" && caption.length > 1024 ? length(`${type}['caption']`, 1024) : null
}
