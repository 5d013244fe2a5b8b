import { CompiledQuery } from "kysely"
import type { Sql } from "../connect.js"
import type { Connection } from "../run-query.js"

/** Runs statements inside the transaction that a query builder is bound to. */
export const inTransaction = (sql: Sql): Connection => ({
  async send({ text }, values) {
    return (await sql.executeQuery(CompiledQuery.raw(text, [...values]))).rows
  },
})
