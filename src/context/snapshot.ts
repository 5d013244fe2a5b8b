import type { PlainRow } from "../database/read-model.js"

/** A row out of a snapshot with what is not stored of its files: their addresses, which expire, and in older snapshots the list of their ids. */
export function withMedia(row: PlainRow, urlOf: (id: string) => string): PlainRow {
  const shown = { ...row }
  if (row["messageMedia"]) {
    shown["messageMedia"] = withUrls(row["messageMedia"], urlOf)
    shown["mediaIds"] ??= row["messageMedia"].map((link: PlainRow) => link["mediaId"])
  }
  for (const field of ["replyTo", "lastMessage"]) if (row[field]) shown[field] = withMedia(row[field], urlOf)
  return shown
}

/** Attachments with the addresses of their files. */
export const withUrls = (links: PlainRow[], urlOf: (id: string) => string): PlainRow[] =>
  links.map((link) => ({ ...link, media: link["media"] && { ...link["media"], url: urlOf(link["media"].id) } }))
