import type { Compilable, CompiledQuery } from "kysely"
import { LRUCache } from "lru-cache"
import { databaseLimits } from "../limits.js"

/** A query whose text depends only on `key`: it is compiled once for all `values`. */
export interface QueryTemplate<R, V extends unknown[] = unknown[]> {
  key: string
  values: V
  /** Builds the query; `values` are placeholders and can be used only as parameters. */
  build(values: V): Compilable<R>
}

/** Placeholder of a value while a template is compiled. */
class Placeholder {
  constructor(readonly index: number) {}
}

type Compiled = Pick<CompiledQuery, "sql" | "parameters">
const compiled = new LRUCache<string, Compiled>({ max: databaseLimits.preparedStatements })

/** Returns the text and the values of a template. It compiles once per key, because compiling costs more than sending the query. */
export function compiledOnce({ key, values, build }: QueryTemplate<unknown>): { text: string; values: unknown[] } {
  let known = compiled.get(key)
  if (!known) {
    // Without its tree, which takes more memory than the text.
    const { sql, parameters } = build(values.map((_, index) => new Placeholder(index))).compile()
    known = { sql, parameters }
    compiled.set(key, known)
  }
  return { text: known.sql, values: known.parameters.map((each) => (each instanceof Placeholder ? values[each.index] : each)) }
}
