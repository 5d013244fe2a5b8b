import type { MessageTemplate } from "../entities/channel-message.js"
import { type Capabilities, ChannelFailure, type MediaKind, type OutgoingFile } from "../ports/channel.js"
import { splitText, textSize } from "./split.js"

/** The content of a message that is sent. */
export interface Content {
  text: string | null
  files: OutgoingFile[]
  template: MessageTemplate | null
  choices: string[] | null
}

/** The content of one request to a channel. */
export type PartContent = Content

/** The kind of a file, by its content type. */
export function kindOf(mimeType: string): MediaKind {
  const [kind] = mimeType.split("/")
  return kind === "image" || kind === "video" || kind === "audio" ? kind : "document"
}

/**
 * The requests by which a message is sent. Throws `ChannelFailure` when the channel does not take a file. A long text becomes several; each
 * file is one, unless the channel takes all together; the text is the caption of the first file where it fits, otherwise it comes last. Choices
 * are offered with the last text.
 */
export function partsOf({ text, files, template, choices }: Content, capabilities: Capabilities): PartContent[] {
  if (template) return [{ text: null, files: [], template, choices: null }]
  const taken = files.map((file) => accepted(file, capabilities))
  if (capabilities.together) return [{ text, files: withinTotal(taken, capabilities), template, choices }]
  const first = taken[0]
  const isCaption = Boolean(text && first && fitsCaption(text, first, capabilities))
  const withFiles = taken.map((file, index) => ({ text: isCaption && index === 0 ? text : null, files: [file], template, choices: null }))
  const pieces = text && !isCaption ? splitText(text, capabilities) : []
  const texts = pieces.map((piece, index) => ({ text: piece, files: [], template, choices: index === pieces.length - 1 ? choices : null }))
  return [...withFiles, ...texts]
}

/** The file under a kind that the channel takes: its own, or a document. */
function accepted(file: OutgoingFile, { mediaBytes, mediaTypes }: Capabilities): OutgoingFile {
  const isTypeTaken = !mediaTypes || mediaTypes.includes(file.mimeType)
  const kind = isTypeTaken ? [file.kind, "document" as const].find((each) => file.size <= (mediaBytes[each] ?? -1)) : undefined
  if (kind) return { ...file, kind }
  const isTooLarge = isTypeTaken && mediaBytes[file.kind] !== undefined
  const reason = isTooLarge
    ? `is larger than the ${mediaBytes[file.kind]} bytes that the channel takes`
    : `(${file.mimeType}) is not taken by the channel`
  throw new ChannelFailure(`The file ${file.filename} ${reason}`, { kind: "permanent", code: "CONTENT_REFUSED" })
}

/** Where all files are sent together, their sizes count together. */
function withinTotal(files: OutgoingFile[], { mediaBytes }: Capabilities): OutgoingFile[] {
  const most = Math.max(0, ...Object.values(mediaBytes))
  const total = files.reduce((sum, { size }) => sum + size, 0)
  if (total <= most) return files
  throw new ChannelFailure(`The files are larger than the ${most} bytes that the channel takes`, {
    kind: "permanent",
    code: "CONTENT_REFUSED",
  })
}

const fitsCaption = (text: string, { kind }: OutgoingFile, { captionLength, withoutCaption = [], textUnit }: Capabilities) =>
  !withoutCaption.includes(kind) && textSize(text, textUnit) <= captionLength
