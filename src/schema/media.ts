import { withUrls } from "../context/snapshot.js"
import { belongsTo, type PlainRow, type Relation, readModel, type Selection } from "../database/read-model.js"
import { anyOf, arrayOf, type Reader } from "../database/reader.js"

export const mediaReadModel = readModel("Media", {
  url: {
    needs: [],
    load: (rows, reader) => {
      for (const row of rows) row["url"] = reader.mediaUrl(row["id"])
    },
  },
})

export const messageMediaReadModel = readModel("MessageMedia", { media: belongsTo("media", () => mediaReadModel, "mediaId") })

const mayHaveMedia = (row: PlainRow) => ["Photo", "Video", "Audio", "Document"].includes(row["type"])

const readFiles = Symbol("files that were read")

/** The files of a page of messages: read once, for `messageMedia` and `mediaIds` alike, and remembered on the page itself. */
function filesOf(rows: PlainRow[] & { [readFiles]?: ReturnType<typeof findFiles> }, reader: Reader, asked: Selection) {
  rows[readFiles] ??= findFiles(rows, reader, { ...asked["messageMedia"], ...(asked["mediaIds"] && { mediaId: {} }) })
  return rows[readFiles]
}

/** The files of messages by message, in their order. A text has none, so that a list of texts reads none; a snapshot has its own. */
async function findFiles(rows: PlainRow[], reader: Reader, selection: Selection) {
  const byMessage = new Map<string, PlainRow[]>()
  const ids = rows.filter((row) => !row["messageMedia"] && mayHaveMedia(row)).map((row) => row["id"])
  if (ids.length === 0) return byMessage
  const found = await reader.fixedList(
    messageMediaReadModel,
    { ...selection, messageId: {} },
    {
      key: "of messages",
      values: [arrayOf(ids)],
      build: (query, [list]) => query.where("t.message_id", "=", anyOf(list)).orderBy("t.position"),
    },
  )
  for (const link of found) byMessage.set(link["messageId"], [...(byMessage.get(link["messageId"]) ?? []), link])
  return byMessage
}

/** The files of messages; those of a snapshot as they were then. */
export const messageMedia: Relation = {
  needs: ["type"],
  async load(rows, reader, _selection, asked) {
    const files = await filesOf(rows, reader, asked)
    for (const row of rows) {
      row["messageMedia"] = row["messageMedia"] ? withUrls(row["messageMedia"], reader.mediaUrl) : (files.get(row["id"]) ?? [])
    }
  },
}

/** The ids of the files of messages. */
export const mediaIds: Relation = {
  needs: ["type"],
  async load(rows, reader, _selection, asked) {
    const files = await filesOf(rows, reader, asked)
    for (const row of rows) row["mediaIds"] ??= (row["messageMedia"] ?? files.get(row["id"]) ?? []).map((link: PlainRow) => link["mediaId"])
  },
}
