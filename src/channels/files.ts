import type { RequestContext } from "../context/request-context.js"
import { codePoints } from "../entities/kit/scalars.js"
import { storableText } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"
import { Media } from "../entities/media.js"
import type { MessageType } from "../entities/message.js"
import { filenameOf } from "../media/filename.js"
import type { MessageDraft } from "../messages/append.js"
import type { IncomingFile, IncomingMessage } from "../ports/channel.js"
import type { HookConnection } from "./hook-connection.js"

/** A text that is too long for a message, whole; null for any other. */
export const wholeText = ({ text }: IncomingMessage) =>
  text && codePoints(storableText(text)) > entityLimits.messageText ? storableText(text) : null

/** Creates the rows of a message's files, whose content a job fetches; a text that is too long becomes a file too. */
export function announceFiles(
  { em }: RequestContext,
  { id: channelId, companyId }: HookConnection,
  item: IncomingMessage,
): Pick<MessageDraft, "type" | "mediaIds"> {
  const whole = wholeText(item)
  const files: IncomingFile[] = [...item.files, ...(whole ? [{ reference: { text: whole }, filename: "message.txt", kind: "text" }] : [])]
  const media = files.map(({ reference, filename, kind }) => {
    const name = filename ? filenameOf(storableText(filename)) : kind
    return Media.announced(companyId, name, { channelId, reference, kind })
  })
  em.persist(media)
  return media.length === 0 ? { type: "Text" } : { type: typeOf(files[0]!.kind), mediaIds: media.map(({ id }) => id) }
}

/** The type of a message by the word for its first file; its content is not known yet. */
function typeOf(kind: string): MessageType {
  if (/photo|image|picture|sticker/.test(kind)) return "Photo"
  if (/video|animation|gif/.test(kind)) return "Video"
  return /audio|voice/.test(kind) ? "Audio" : "Document"
}
