import type { Compilable } from "kysely"
import { compiledOnce } from "./kit/compiled-once.js"
import { prepared } from "./kit/prepared.js"

/** Where statements run: on one connection of the pool, or inside a transaction. */
export interface Connection {
  /** Sends a statement and returns its rows, which have room for the fields that are put on them later. */
  send(statement: { name?: string; text: string }, values: readonly unknown[], laterFields?: string[]): Promise<unknown[]>
}

/** A query whose text depends on nothing but `key`: it is compiled once, and only its `values` differ. */
export interface QueryTemplate<R, V extends unknown[] = unknown[]> {
  key: string
  values: V
  /** Builds the query; its values may be used as parameters only, since they are placeholders. */
  build(values: V): Compilable<R>
}

/** A query that is compiled already, or SQL text with its parameters. */
export interface SqlText {
  sql: string
  parameters: readonly unknown[]
}

/**
 * Runs a query and returns its rows; the one way in which a planned read or a query of Kysely reaches the database. A template is compiled once
 * and prepared; statements that are started together are sent together.
 */
export function runQuery<R>(
  connection: Connection,
  query: Compilable<R> | QueryTemplate<R> | SqlText,
  laterFields?: string[],
): Promise<R[]> {
  if ("key" in query) {
    const { text, values } = compiledOnce(query)
    return connection.send(prepared(text), values, laterFields) as Promise<R[]>
  }
  const { sql, parameters } = "compile" in query ? query.compile() : query
  return connection.send({ text: sql }, parameters, laterFields) as Promise<R[]>
}
