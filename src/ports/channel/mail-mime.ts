import MailComposer from "nodemailer/lib/mail-composer"
import PostalMime, { type Attachment } from "postal-mime"
import type { Part } from "../channel.js"
import { portLimits } from "../limits.js"
import { type MailContent, type MailFile, unreadText } from "./mail.js"
import { htmlOf } from "./mail-text.js"
import type { Outgoing } from "./mail-thread.js"

/** The parts of a report on a delivery. */
const reportTypes = new Set(["message/delivery-status", "message/rfc822", "text/rfc822-headers"])

/** Reads a mail as it was transferred. `referenceOf` names the file at an index. */
export async function readMime(raw: Buffer, referenceOf: (index: number) => unknown): Promise<MailContent> {
  const email = await parsed(raw)
  if (!email) return await readHead(raw)
  const { headers, text = null, html = null, attachments } = email
  const isReport = headers.some(({ key, value }) => key === "content-type" && /^multipart\/report\b/i.test(value))
  return {
    headers,
    text,
    html,
    files: attachments.map((attachment, index) => fileOf(attachment, referenceOf(index))),
    reports: isReport ? attachments.filter(({ mimeType }) => reportTypes.has(mimeType)).map(beginOf) : [],
  }
}

/** Reads the beginning of the headers alone. */
export async function readHead(raw: Buffer): Promise<MailContent> {
  const head = raw.toString("latin1", 0, portLimits.mailHeadBytes)
  const email = await parsed(Buffer.from(head.split(/\r?\n\r?\n/, 1)[0]!, "latin1"))
  return { headers: email?.headers ?? [], text: unreadText, html: null, files: [], reports: [] }
}

/** The bytes of the file at an index of a mail; null when there is none. */
export async function fileInMime(raw: Buffer, index: number): Promise<{ bytes: Buffer; filename: string | null } | null> {
  const attachment = (await parsed(raw))?.attachments[index]
  return attachment ? { bytes: bytesOf(attachment), filename: attachment.filename } : null
}

/** Writes a mail, all in ASCII. */
export async function writeMime({ text, files }: Part, from: { name: string; address: string }, outgoing: Outgoing): Promise<Buffer> {
  const { to, subject, headers, inReplyTo, references } = outgoing
  const attachments = files.map(async (file) => ({
    filename: file.filename,
    contentType: file.mimeType,
    content: Buffer.from(await file.bytes()),
    contentTransferEncoding: "base64",
  }))
  const composer = new MailComposer({
    from,
    // An object is one address, whatever it contains.
    to: { name: "", address: to },
    subject,
    ...(inReplyTo && { inReplyTo }),
    references,
    headers,
    ...(text && { text, html: htmlOf(text) }),
    attachments: await Promise.all(attachments),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: "win",
  })
  return composer.compile().build()
}

const beginOf = (attachment: Attachment) => bytesOf(attachment).subarray(0, portLimits.mailReportBytes).toString()

/** Null for mails that are nested too deeply or have too many headers. */
async function parsed(raw: Buffer) {
  try {
    return await PostalMime.parse(raw, { forceRfc822Attachments: true })
  } catch (error) {
    // The parser's only errors are its limits.
    if (error instanceof Error && /exceed|maximum|limit/i.test(error.message)) return null
    throw error
  }
}

function bytesOf({ content }: Attachment): Buffer {
  if (typeof content === "string") return Buffer.from(content)
  return content instanceof Uint8Array ? Buffer.from(content.buffer, content.byteOffset, content.byteLength) : Buffer.from(content)
}

const fileOf = (attachment: Attachment, reference: unknown): MailFile => ({
  filename: attachment.filename,
  mimeType: attachment.mimeType,
  isInline: attachment.related === true || attachment.disposition === "inline",
  size: bytesOf(attachment).length,
  reference,
})
