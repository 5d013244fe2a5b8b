import type { Database } from "../database/connect.js"
import { together } from "../database/together.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { oncePer } from "../once-per.js"

/** In the order of the credentials, so that two instances that note the same do not wait for each other in a circle. */
const noteWrites: Statement = {
  name: "note-writes",
  text: `insert into write_position as known (key, position, written_at)
         select credential, pg_current_wal_insert_lsn(), now() from (select distinct unnest($1::text[]) as credential) each order by credential
         on conflict (key) do update set position = excluded.position, written_at = excluded.written_at
         where known.position < excluded.position`,
}

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
