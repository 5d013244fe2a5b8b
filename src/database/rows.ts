import { LRUCache } from "lru-cache"
import { databaseLimits } from "./limits.js"
import type { PlainRow } from "./read-model.js"

type Maker = (values: unknown[]) => PlainRow

const makers = new LRUCache<string, Maker>({ max: databaseLimits.preparedStatements })

/**
 * What makes rows of these columns, with room for the fields that are put on them later. The code is generated, as an object that is born
 * with all its fields costs a tenth of the time and a sixth of the memory of one that gets them by name, one after the other.
 */
export function rowMaker(columns: string[], later: string[]): Maker {
  const key = JSON.stringify([columns, later])
  const known = makers.get(key)
  if (known) return known
  const fields = new Map([
    ...later.map((name) => [name, "undefined"] as const),
    ...columns.map((name, place) => [name, `values[${place}]`] as const),
  ])
  const body = [...fields].map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join()
  const made = new Function("values", `return { ${body} }`) as Maker
  makers.set(key, made)
  return made
}
