import type { Database } from "./connect.js"
import type { PlainRow } from "./read-model.js"
import type { Statement } from "./unit-of-work.js"

/**
 * The one door past the company border, for what has no company yet (whose credentials are these?) or is about all of them (what is due?).
 * A test lists its callers.
 */
export async function unscoped(database: Database, statement: Statement, values: unknown[] = []): Promise<PlainRow[]> {
  const result = await database.pool.query({ ...statement, values })
  return result.rows
}
