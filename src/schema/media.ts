import { withUrls } from "../context/snapshot.js"
import { belongsTo, type PlainRow, readModel } from "../database/read-model.js"
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

/** The files of messages, in their order; a text has none, so that a list of texts asks for none. */
export const messageMedia = {
  needs: ["type"],
  async load(rows: PlainRow[], reader: Reader, selection: object) {
    const [kept, bare] = [rows.filter((row) => row["messageMedia"]), rows.filter((row) => !row["messageMedia"])]
    // Out of an event they bring theirs, as it was then.
    for (const row of kept) row["messageMedia"] = withUrls(row["messageMedia"], reader.mediaUrl)
    const ids = bare.filter(mayHaveMedia).map((row) => row["id"])
    const found =
      ids.length === 0
        ? []
        : await reader.fixedList(
            messageMediaReadModel,
            { ...selection, messageId: {} },
            {
              key: "of messages",
              values: [arrayOf(ids)],
              build: (query, [list]) => query.where("t.message_id", "=", anyOf(list)).orderBy("t.position"),
            },
          )
    for (const row of bare) row["messageMedia"] = found.filter((link) => link["messageId"] === row["id"])
  },
}
