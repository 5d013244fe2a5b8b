import type { Database } from "./connect.js"
import type { Statement } from "./unit-of-work.js"

/**
 * Runs a statement that is not limited to companies: before the company is known (looking up credentials), or for all companies (finding
 * due work). A test lists its callers.
 */
export async function unscoped<R = Record<string, unknown>>(
  database: Database,
  statement: Statement<R>,
  values: unknown[] = [],
): Promise<R[]> {
  return (await database.pool.query({ ...statement, values })).rows
}
