import type { Database } from "../database/connect.js"
import { together } from "../database/together.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { notePosition } from "../database/write-position.js"
import { oncePer } from "../once-per.js"

const noteWrites: Statement = { name: "note-writes", text: notePosition("select distinct unnest($1::text[]) as key") }

const notesOf = oncePer((database: Database) =>
  together(async (credentials: readonly string[]) => {
    await unscoped(database, noteWrites, [credentials])
    return credentials.map(() => null)
  }),
)

/** Stores up to where PostgreSQL's log of writes has what a credential has just committed; every instance reads it with the credential. */
export async function noteWrite(database: Database, credential: string): Promise<void> {
  await notesOf(database)(credential)
}
