import { FileTypeParser } from "file-type"
import { UnsupportedMediaType } from "../errors/errors.js"
import { markupOf } from "./markup.js"
import { officeBinaryType } from "./office-binary.js"

const accepted = /^(image|video|audio)\/|^text\/(plain|csv)$|^application\/(pdf|zip|msword|vnd\.ms-excel|vnd\.ms-powerpoint)$/
// Word, Excel and PowerPoint since 2007: documents, templates and shows, with macros and without.
const office =
  /^application\/vnd\.(openxmlformats-officedocument\.(wordprocessingml|spreadsheetml|presentationml)\.|ms-(word|excel|powerpoint)\.)/

/** Containers that may hold audio or video and whose name says neither. */
const containers: Record<string, string> = { "application/vnd.ms-asf": "video/x-ms-asf", "application/ogg": "video/ogg" }

/** The type of a file by its bytes; throws 415 for a type that is not accepted. `text` is the beginning of a file that is all text. */
export async function contentType(path: string, text: string | null, filename: string): Promise<string> {
  const type = text === null ? await binaryType(path) : textType(text, filename)
  if (type && (accepted.test(type) || office.test(type))) return type
  throw new UnsupportedMediaType(
    `Files with this content${type ? ` (${type})` : ""} are not taken, whatever their name and Content-Type: send an image, video, audio, PDF, Word, Excel, PowerPoint, ZIP, plain text (UTF-8) or CSV file`,
  )
}

async function binaryType(path: string): Promise<string | undefined> {
  const found = await new FileTypeParser().fromFile(path)
  const type = found?.mime.split(";")[0]
  if (type === "application/x-cfb") return officeBinaryType(path)
  return type && (containers[type] ?? type)
}

/** Text is never matched against binary signatures: a price list that begins with "BM" is not a bitmap. */
function textType(text: string, filename: string): string {
  if (text.startsWith("%PDF-")) return "application/pdf"
  const markup = markupOf(text)
  if (markup === "svg") return "image/svg+xml"
  if (markup === "html") return "text/html"
  return /\.csv$/i.test(filename) ? "text/csv" : "text/plain"
}
