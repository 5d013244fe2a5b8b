import { LRUCache } from "lru-cache"
import { databaseLimits } from "../limits.js"

/** Recent number of runs of each text: texts that are sent once must not fill every connection with plans. */
const timesRun = new LRUCache<string, number>({ max: databaseLimits.preparedStatements })
const statements = new Map<string, { name: string; text: string }>()

/**
 * Names a prepared statement for a text that runs often, so that a connection parses it once. The number of names is bounded, because a
 * connection keeps what it prepared.
 */
export function prepared(text: string): { name?: string; text: string } {
  const known = statements.get(text)
  if (known) return known
  const times = (timesRun.get(text) ?? 0) + 1
  timesRun.set(text, times)
  if (times < databaseLimits.preparedAfter || statements.size >= databaseLimits.preparedStatements) return { text }
  const statement = { name: `read-${statements.size}`, text }
  statements.set(text, statement)
  return statement
}
