import type { CompiledQuery } from "kysely"
import { LRUCache } from "lru-cache"
import { databaseLimits } from "./limits.js"
import type { Query } from "./read-model.js"

/** Stands for a value while the text of a statement is made. */
class Place {
  constructor(readonly index: number) {}
}

type Compiled = Pick<CompiledQuery, "sql" | "parameters">
const compiled = new LRUCache<string, Compiled>({ max: databaseLimits.preparedStatements })

/**
 * A query whose text depends on nothing but `key` is built and compiled once; later only its values are put in. Building a query anew
 * costs more than sending it.
 */
export function queryTemplate(key: string, values: unknown[], build: (values: unknown[]) => Query): { text: string; values: unknown[] } {
  let known = compiled.get(key)
  if (!known) {
    known = build(values.map((_, index) => new Place(index))).compile()
    compiled.set(key, known)
  }
  return { text: known.sql, values: known.parameters.map((each) => (each instanceof Place ? values[each.index] : each)) }
}
