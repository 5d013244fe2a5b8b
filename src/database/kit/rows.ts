import { LRUCache } from "lru-cache"
import { databaseLimits } from "../limits.js"

type RowMaker = (values: unknown[]) => object

const makers = new LRUCache<string, RowMaker>({ max: databaseLimits.preparedStatements })

/**
 * Returns a function that creates rows of these columns, with undefined fields for values that are assigned later. It is generated code: an
 * object that is created with all its fields takes a tenth of the time and a sixth of the memory of one whose fields are added one by one.
 */
export function rowMaker(columns: string[], laterFields: string[]): RowMaker {
  const key = JSON.stringify([columns, laterFields])
  const known = makers.get(key)
  if (known) return known
  const fields = new Map([
    ...laterFields.map((name) => [name, "undefined"] as const),
    ...columns.map((name, index) => [name, `values[${index}]`] as const),
  ])
  const body = [...fields].map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join()
  const maker = new Function("values", `return { ${body} }`) as RowMaker
  makers.set(key, maker)
  return maker
}
