import type { Duplex } from "node:stream"
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from "pg"
import type { PlainRow } from "./read-model.js"
import { rowMaker } from "./rows.js"

/** Runs a statement and answers its rows, which may have room for the fields that are put on them `later`. */
export type Run = (statement: { name?: string; text: string }, values: unknown[], later?: string[]) => Promise<PlainRow[]>

/**
 * Runs a reader's statements on one connection of the pool for as long as one of them follows another: those of a level are sent together,
 * and who has begun ends before others begin, so that no more rows wait in memory than the pool has connections.
 */
export function pipelined(pool: Pool): Run {
  let taken: Promise<PoolClient> | null = null
  let running = 0
  return async (statement, values, later = []) => {
    running += 1
    const taking = taken ?? pool.connect()
    taken = taking
    try {
      const client = await taking
      corkUntilNextTick(client)
      const { rows, fields } = await answer(client, { ...statement, values, rowMode: "array" })
      return rows.map(
        rowMaker(
          fields.map(({ name }) => name),
          later,
        ),
      )
    } finally {
      running -= 1
      // What the rows lead to is asked for within this turn of the event loop.
      if (running === 0)
        setImmediate(() => {
          if (running > 0 || taken !== taking) return
          taken = null
          // Who waited for a connection that could not be had was told.
          taking.then(
            (client) => client.release(),
            () => {},
          )
        })
    }
  }
}

/**
 * Asks by a callback. Of the driver's own promises each keeps the next one's rows alive once it is old, and so on as long as there is load:
 * a fifth of all garbage outlived its scavenge.
 */
function answer(client: PoolClient, query: QueryArrayConfig): Promise<QueryArrayResult<unknown[][]>> {
  return new Promise<QueryArrayResult<unknown[][]>>((resolve, reject) => {
    client.query<unknown[][]>(query, (error, result) => (error ? reject(error) : resolve(result)))
  }).catch((error: Error) => {
    // Leads back to who asked, not to the socket that heard of it.
    Error.captureStackTrace(error)
    throw error
  })
}

const held = new WeakSet<PoolClient>()

/** Holds back what a connection writes until everything is written that follows from what it read: system calls are dear. */
function corkUntilNextTick(client: PoolClient) {
  if (held.has(client)) return
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  held.add(client)
  stream.cork()
  process.nextTick(() => {
    held.delete(client)
    stream.uncork()
  })
}
