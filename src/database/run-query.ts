import type { Compilable } from "kysely"
import { compiledOnce, type QueryTemplate } from "./kit/compiled-once.js"
import { prepared } from "./kit/prepared.js"

/** Counts the bytes of rows as they arrive; throws when there are too many. */
export interface ReadMeter {
  take(bytes: number): void
}

/** Runs statements on one connection of the pool, or in a transaction. */
export interface Connection {
  /** Sends a statement and returns its rows, which have undefined fields for `laterFields`. */
  send(statement: { name?: string; text: string }, values: readonly unknown[], laterFields?: string[]): Promise<unknown[]>
}

/** A compiled query, or SQL text with its parameters. */
export interface SqlText {
  sql: string
  parameters: readonly unknown[]
}

/**
 * Runs a query and returns its rows. Every planned read and every Kysely query reaches the database through this function. A template is
 * compiled once and prepared; statements that start in the same tick are sent in one write.
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
