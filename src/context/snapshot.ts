import type { PlainRow } from "../database/read-model.js"

/** A row out of a snapshot with the addresses of the files on it: they expire, and are not stored. */
export function withMediaUrls(row: PlainRow, urlOf: (id: string) => string): PlainRow {
  const shown = { ...row }
  if (row["messageMedia"]) shown["messageMedia"] = withUrls(row["messageMedia"], urlOf)
  for (const field of ["replyTo", "lastMessage"]) if (row[field]) shown[field] = withMediaUrls(row[field], urlOf)
  return shown
}

/** Attachments with the addresses of their files. */
export const withUrls = (links: PlainRow[], urlOf: (id: string) => string): PlainRow[] =>
  links.map((link) => ({ ...link, media: link["media"] && { ...link["media"], url: urlOf(link["media"].id) } }))
