import type { CompiledQuery } from "kysely"
import { LRUCache } from "lru-cache"
import { databaseLimits } from "../limits.js"
import type { QueryTemplate } from "../run-query.js"

/** Stands for a value while a template is compiled. */
class Placeholder {
  constructor(readonly index: number) {}
}

type Compiled = Pick<CompiledQuery, "sql" | "parameters">
const compiled = new LRUCache<string, Compiled>({ max: databaseLimits.preparedStatements })

/** The text and the values of a template. Building and compiling a query costs more than sending it, so it is done once per key. */
export function compiledOnce({ key, values, build }: QueryTemplate<unknown>): { text: string; values: unknown[] } {
  let known = compiled.get(key)
  if (!known) {
    known = build(values.map((_, index) => new Placeholder(index))).compile()
    compiled.set(key, known)
  }
  return { text: known.sql, values: known.parameters.map((each) => (each instanceof Placeholder ? values[each.index] : each)) }
}
