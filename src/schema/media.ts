import { belongsTo, hasMany, type PlainRow, type PlannedRow, type Relation, readModel } from "../database/read-model.js"

export const mediaReadModel = readModel("Media", {
  url: { needs: [], load: (rows, reader) => rows.map(({ id }) => reader.mediaUrl(id)) },
})

export const messageMediaReadModel = readModel("MessageMedia", { media: belongsTo(() => mediaReadModel, "mediaId") })

/** A row, or the snapshot of one out of an event, with its files. */
interface WithFiles extends PlainRow {
  messageMedia?: (PlainRow & { media?: PlainRow | null })[]
}

const links = hasMany(
  () => messageMediaReadModel,
  "messageId",
  (query, ids) => query.where("t.message_id", "=", ids).orderBy("t.position"),
)

const mayHaveMedia = ({ type }: PlannedRow<"Message">) => type !== undefined && ["Photo", "Video", "Audio", "Document"].includes(type)

/** The files of messages, in their order. A text has none, so a list of texts reads none. */
export const messageMedia: Relation<"Message"> = {
  needs: ["type"],
  async load(rows: (PlannedRow<"Message"> & WithFiles)[], reader, selection) {
    const ids = rows.filter((row) => !row.messageMedia && mayHaveMedia(row)).map(({ id }) => id)
    const found = await reader.manyOf(links, ids, selection)
    // The snapshot of an event brings its files, as they were then.
    return rows.map(({ id, messageMedia }) => (messageMedia ? withUrls(messageMedia, reader.mediaUrl) : (found.get(id) ?? [])))
  },
}

/** A message or a chat out of an event, with the addresses of its files: a snapshot has none, because they expire. */
export function withMediaUrls<R extends object>(row: R, urlOf: (id: string) => string): R {
  const shown: R & { replyTo?: object | null; lastMessage?: object | null } & Partial<WithFiles> = { ...row }
  if (shown.messageMedia) shown.messageMedia = withUrls(shown.messageMedia, urlOf)
  if (shown.replyTo) shown.replyTo = withMediaUrls(shown.replyTo, urlOf)
  if (shown.lastMessage) shown.lastMessage = withMediaUrls(shown.lastMessage, urlOf)
  return shown
}

const withUrls = (files: NonNullable<WithFiles["messageMedia"]>, urlOf: (id: string) => string) =>
  files.map((file) => ({ ...file, media: file.media && { ...file.media, url: urlOf(file.media.id) } }))
