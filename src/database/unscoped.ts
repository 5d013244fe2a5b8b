import type { Database } from "./connect.js"
import type { Statement } from "./unit-of-work.js"

/**
 * Runs a statement without the condition on the company: for what has no company yet (whose credentials are these?) or is about all companies
 * (what is due?). A test lists its callers.
 */
export async function unscoped<R = Record<string, unknown>>(
  database: Database,
  statement: Statement<R>,
  values: unknown[] = [],
): Promise<R[]> {
  return (await database.pool.query({ ...statement, values })).rows
}
