import { CompiledQuery } from "kysely"
import type { Sql } from "../connect.js"
import type { Connection } from "../run-query.js"

/** A connection that runs statements in the transaction of a query builder. */
export const transactionConnection = (sql: Sql): Connection => ({
  async send({ text }, values) {
    return (await sql.executeQuery(CompiledQuery.raw(text, [...values]))).rows
  },
})
