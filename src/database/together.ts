import type { Duplex } from "node:stream"
import type { Pool, PoolClient, QueryResult } from "pg"
import type { PlainRow } from "./source.js"

/** Runs a statement and answers its rows. */
export type Run = (statement: { name?: string; text: string }, values: unknown[]) => Promise<PlainRow[]>

/**
 * Runs a reader's statements on one connection of the pool for as long as one of them follows another: those of a level are sent together,
 * and who has begun ends before others begin, so that no more rows wait in memory than the pool has connections.
 */
export function together(pool: Pool): Run {
  let taken: Promise<PoolClient> | null = null
  let running = 0
  return async (statement, values) => {
    running += 1
    const taking = taken ?? pool.connect()
    taken = taking
    try {
      return await rowsOf(await taking, statement, values)
    } finally {
      running -= 1
      // What the rows lead to is asked for within this turn of the event loop.
      if (running === 0)
        setImmediate(() => {
          if (running > 0 || taken !== taking) return
          taken = null
          taking.then((client) => client.release()).catch(() => {})
        })
    }
  }
}

/** By callback: the driver's own promises keep each other's rows until the next full garbage collection (seen with pg 8.23 on Node 24). */
function rowsOf(client: PoolClient, statement: { name?: string; text: string }, values: unknown[]): Promise<PlainRow[]> {
  inOnePacket(client)
  return new Promise((resolve, reject) => {
    client.query({ ...statement, values }, (error: Error | null, result: QueryResult<PlainRow>) =>
      error ? reject(error) : resolve(result.rows),
    )
  })
}

const held = new WeakSet<PoolClient>()

/** Holds back what a connection writes until everything is written that follows from what it read: system calls are dear. */
function inOnePacket(client: PoolClient) {
  if (held.has(client)) return
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  held.add(client)
  stream.cork()
  process.nextTick(() => {
    held.delete(client)
    stream.uncork()
  })
}
