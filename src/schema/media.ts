import { idsOf, type WithFiles, withUrls } from "../context/snapshot.js"
import {
  belongsTo,
  hasMany,
  type PlannedRow,
  type Relation,
  type RelationReader,
  readModel,
  type Selection,
} from "../database/read-model.js"

export const mediaReadModel = readModel("Media", {
  url: { needs: ["status"], load: (rows, reader) => rows.map(({ id, status }) => (status === "ready" ? reader.mediaUrl(id) : null)) },
})

export const messageMediaReadModel = readModel("MessageMedia", { media: belongsTo(() => mediaReadModel, "mediaId") })

type MessageRow = PlannedRow<"Message"> & WithFiles

const links = hasMany(
  () => messageMediaReadModel,
  "messageId",
  (query, ids) => query.where("t.message_id", "=", ids).orderBy("t.position"),
)

const mayHaveMedia = ({ type }: MessageRow) =>
  type !== undefined && ["Photo", "Video", "Audio", "Document", "FunctionCallOutput"].includes(type)

/** Reads files once although they are selected as `messageMedia` and as `mediaIds`. Texts have none; snapshots contain theirs. */
const loadLinks = (rows: MessageRow[], reader: RelationReader, ofMessage: Selection) =>
  reader.manyOf(
    links,
    rows.filter((row) => !row.messageMedia && mayHaveMedia(row)).map(({ id }) => id),
    { ...ofMessage["messageMedia"], ...(ofMessage["mediaIds"] && { mediaId: {} }) },
  )

/** Files of messages, in their order; a snapshot contains the files at its time. */
export const messageMedia: Relation<"Message"> = {
  needs: ["type"],
  async load(rows: MessageRow[], reader, _selection, ofMessage) {
    const found = await loadLinks(rows, reader, ofMessage)
    return rows.map(({ id, messageMedia }) => (messageMedia ? withUrls(messageMedia, reader.mediaUrl) : (found.get(id) ?? [])))
  },
}

/** IDs of the files of messages. */
export const mediaIds: Relation<"Message"> = {
  needs: ["type"],
  async load(rows: MessageRow[], reader, _selection, ofMessage) {
    const found = await loadLinks(rows, reader, ofMessage)
    return rows.map(({ id, messageMedia, mediaIds }) => mediaIds ?? idsOf(messageMedia ?? found.get(id) ?? []))
  },
}
