import { LRUCache } from "lru-cache"
import { databaseLimits } from "./limits.js"
import type { Statement } from "./unit-of-work.js"

/** How often a text was run of late; those that clients send once must not fill every connection with plans. */
const seen = new LRUCache<string, number>({ max: databaseLimits.preparedStatements })
const named = new Map<string, Statement>()

/** A statement that comes often gets a name, by which a connection parses it once; their number is bounded, since a connection keeps what it prepared. */
export function prepared(text: string): Statement | { text: string } {
  const known = named.get(text)
  if (known) return known
  const times = (seen.get(text) ?? 0) + 1
  seen.set(text, times)
  if (times < databaseLimits.preparedAfter || named.size >= databaseLimits.preparedStatements) return { text }
  const statement = { name: `read-${named.size}`, text }
  named.set(text, statement)
  return statement
}
