import type { PlainRow } from "../database/read-model.js"

/** A message, a chat or a row from a snapshot of one, with its files. */
export interface WithFiles extends PlainRow {
  messageMedia?: FileLink[]
  mediaIds?: string[]
}

interface FileLink extends PlainRow {
  mediaId?: string
  media?: PlainRow | null
}

/** Adds what a snapshot does not store of the files of a row: their URLs, which expire, and in older snapshots the list of their IDs. */
export function withMedia<R extends PlainRow>(row: R, urlOf: (id: string) => string): R {
  const shown: R & WithFiles & { replyTo?: PlainRow | null; lastMessage?: PlainRow | null } = { ...row }
  if (shown.messageMedia) {
    shown.mediaIds ??= idsOf(shown.messageMedia)
    shown.messageMedia = withUrls(shown.messageMedia, urlOf)
  }
  if ("recordingId" in shown) Object.assign(shown, { recordingUrl: shown["recordingId"] ? urlOf(String(shown["recordingId"])) : null })
  if (shown.replyTo) shown.replyTo = withMedia(shown.replyTo, urlOf)
  if (shown.lastMessage) shown.lastMessage = withMedia(shown.lastMessage, urlOf)
  return shown
}

/** Attachments with the URLs of their files. */
export const withUrls = (links: FileLink[], urlOf: (id: string) => string): FileLink[] =>
  links.map((link) => ({ ...link, media: link.media && { ...link.media, url: isReady(link.media) ? urlOf(link.media.id) : null } }))

/** Older snapshots, of uploads alone, do not have the status. */
const isReady = ({ status = "ready" }: PlainRow) => status === "ready"

/** The ids of the files of attachments. */
export const idsOf = (links: FileLink[]) => links.map(({ mediaId }) => mediaId!)
