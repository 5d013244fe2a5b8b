import { CompiledQuery } from "kysely"
import type { Sql } from "../connect.js"
import type { Connection, ReadMeter } from "../run-query.js"

/** A connection that runs statements in the transaction of a query builder. The meter counts their rows about as large as they arrived. */
export const transactionConnection = (sql: Sql, meter?: ReadMeter): Connection => ({
  async send({ text }, values) {
    const { rows } = await sql.executeQuery(CompiledQuery.raw(text, [...values]))
    meter?.take(sizeOf(rows as object[]))
    return rows
  },
})

function sizeOf(rows: object[]): number {
  let size = 0
  for (const row of rows)
    for (const value of Object.values(row))
      if (typeof value === "string") size += value.length
      else if (value && typeof value === "object" && !(value instanceof Date)) size += JSON.stringify(value).length
  return size
}
