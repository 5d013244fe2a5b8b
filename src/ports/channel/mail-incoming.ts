import type { ChannelChat, Incoming, IncomingFile } from "../channel.js"
import { portLimits } from "../limits.js"
import type { Mail, MailFile } from "./mail.js"
import { isBounce, receiptsOf } from "./mail-bounce.js"
import { writtenText } from "./mail-text.js"
import { partIdOf, quotedBy, threadOf } from "./mail-thread.js"

/** What the vendor says about a mail. */
export interface MailSource {
  /** The vendor's ID. */
  id: string
  threadId: string | null
  /** The connected address, in lower case. */
  own: string
  /** Whether the mail was sent from the connected address. */
  isSent: boolean
}

/** What a mail reports: a message, the failure of one, or nothing. */
export function itemsOf(mail: Mail, source: MailSource): Incoming[] {
  const { own, isSent, id, threadId } = source
  const domain = domainOf(own)
  if (!isSent && isBounce(mail)) return receiptsOf(mail, domain)
  const chat = isSent ? recipientOf(mail, own) : senderOf(mail, own)
  if (!chat) return []
  const { messageId, content } = mail
  const externalId = messageId && messageId.length <= portLimits.mailIdCharacters ? messageId : id
  const all = content.files.filter((file) => !isDecoration(file))
  const files = all.slice(0, portLimits.mailFiles).map(fileOf)
  const text = [textOf(mail), ...lostFiles(all.slice(portLimits.mailFiles))].filter(Boolean).join("\n\n")
  return [
    {
      kind: "message",
      chat,
      externalId,
      text: text || (files.length > 0 ? null : "[unsupported: empty mail]"),
      files,
      quoted: quotedBy(mail, domain),
      data: threadOf(mail, `<${id}@${domain}>`, threadId),
      ...(isSent && { isEcho: true, partId: sentPartId(mail, domain) }),
      ...(!isSent && isAutomatic(mail, chat.externalId) && { isAutomatic: true }),
    },
  ]
}

/** Lines about files that are not received. */
function lostFiles(files: MailFile[]): string[] {
  const named = files.slice(0, portLimits.mailFiles)
  const lines = named.map(({ filename }) => `[attachment not available: ${shortName(filename) ?? "file"}, too many files]`)
  return files.length > named.length ? [...lines, `[${files.length - named.length} more attachments not available]`] : lines
}

/** The domain of an address. */
export const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1)

/** The part that a sent mail is; null when it is not one of ours. Its own reference comes last. */
export const sentPartId = (mail: Mail, domain: string) => mail.header("x-part-id") ?? partIdOf(mail.references.at(-1) ?? "", domain)

/** The customer who wrote a mail; null when it is nobody but the connected address. */
function senderOf(mail: Mail, own: string): ChannelChat | null {
  const [from] = mail.addresses("from")
  const [original] = mail.addresses("x-original-sender")
  // A forwarding group may ask for answers to itself.
  const replyTo = mail.addresses("reply-to").filter(({ address }) => !original || address !== from?.address)
  const chosen = [...replyTo, ...(original ? [original] : []), ...(from ? [from] : [])].find(({ address }) => address !== own)
  if (!chosen) return null
  const name = chosen.name || (from?.address === chosen.address ? from.name : "")
  return { externalId: chosen.address, isGroup: false, ...(name && { name }) }
}

function recipientOf(mail: Mail, own: string): ChannelChat | null {
  const to = mail.addresses("to").find(({ address }) => address !== own)
  return to ? { externalId: to.address, isGroup: false, ...(to.name && { name: to.name }) } : null
}

/** What was written, under the subject where the mail begins a thread. */
function textOf(mail: Mail): string {
  const { subject, inReplyTo, references, content } = mail
  const isAnswer = inReplyTo !== null || references.length > 0 || /^(re|aw|sv|vs|antw|odp)(\[\d+\])?\s?:/i.test(subject)
  return [subject && !isAnswer ? `Subject: ${subject}` : "", writtenText(content.text, content.html)].filter(Boolean).join("\n\n")
}

/** Whether a program wrote the mail, so that no turn may answer it (RFC 3834 and what programs do). */
function isAutomatic(mail: Mail, chat: string): boolean {
  const value = (name: string) => mail.header(name)?.toLowerCase() ?? ""
  const isForwarded = mail.header("x-original-sender") !== null
  return (
    /^(?!no\b)\S/.test(value("auto-submitted")) ||
    /^(bulk|junk)/.test(value("precedence")) ||
    (!isForwarded && (value("precedence").startsWith("list") || mail.header("list-id") !== null)) ||
    mail.header("x-autoreply") !== null ||
    /^<?\s*>?$/.test(mail.header("return-path") ?? "set") ||
    /^(no-?reply|do-?not-?reply)([+._-].*)?@/.test(chat)
  )
}

/** Logos and signs in the text. */
const isDecoration = ({ isInline, mimeType, size }: MailFile) =>
  isInline && mimeType.startsWith("image/") && size < portLimits.mailInlineImageBytes

function fileOf({ filename, mimeType, reference }: MailFile): IncomingFile {
  const [type] = mimeType.split("/")
  const kind = type === "image" ? "photo" : type === "video" || type === "audio" ? type : "document"
  return { kind, reference, filename: shortName(filename) ?? (mimeType === "message/rfc822" ? "message.eml" : null) }
}

/** The end of a file's name, which has the extension. */
const shortName = (filename: string | null) => (filename === null ? null : filename.slice(-portLimits.mailSubject))
