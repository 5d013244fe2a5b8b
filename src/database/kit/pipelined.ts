import type { Duplex } from "node:stream"
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from "pg"
import { destroyConnection } from "../pool-guard.js"
import type { Connection, ReadMeter } from "../run-query.js"
import { MeasuredQuery } from "./measured-query.js"
import { rowMaker } from "./rows.js"

/**
 * Runs the statements of one reader on one pooled connection as long as they follow each other. Statements of the same level are sent in
 * one write. The reader keeps the connection until the last statement, so that not more requests than connections hold rows in memory. When
 * the meter of a statement throws, all that wait for the connection fail, and it ends with the rows that are still to come.
 */
export function pipelined(pool: Pool, meterOf?: () => ReadMeter): Connection {
  let connecting: Promise<PoolClient> | null = null
  let running = 0
  return {
    async send(statement, values, laterFields = []) {
      running += 1
      const own = connecting ?? pool.connect()
      connecting = own
      try {
        const client = await own
        corkUntilNextTick(client)
        const { rows, fields } = await query(client, { ...statement, values: values as unknown[], rowMode: "array" }, meterOf?.())
        return rows.map(
          rowMaker(
            fields.map(({ name }) => name),
            laterFields,
          ),
        )
      } finally {
        running -= 1
        // Statements for relations of the rows start within this turn of the event loop.
        if (running === 0)
          setImmediate(() => {
            if (running > 0 || connecting !== own) return
            connecting = null
            own.then(
              (client) => client.release(),
              // The caller of send() has received the error.
              () => {},
            )
          })
      }
    },
  }
}

/**
 * Queries with a callback instead of the driver's promise: once such a promise is in the old generation, it keeps the rows of the next one
 * alive, and so on under load. A fifth of all garbage survived its scavenge that way.
 */
function query(client: PoolClient, config: QueryArrayConfig, meter?: ReadMeter): Promise<QueryArrayResult<unknown[][]>> {
  return new Promise<QueryArrayResult<unknown[][]>>((resolve, reject) => {
    const done = (error: Error | undefined, result: QueryArrayResult<unknown[][]>) => (error ? reject(error) : resolve(result))
    // Rejected at once: the end of the result may have arrived too, and would resolve without the rows that were not kept.
    const refuse = (error: Error) => {
      reject(error)
      destroyConnection(client, error)
    }
    if (meter) client.query(new MeasuredQuery(config, done, meter, refuse))
    else client.query<unknown[][]>(config, done)
  }).catch((error: Error) => {
    // The driver's stack ends in its socket; the new one leads to the caller.
    Error.captureStackTrace(error)
    throw error
  })
}

const corked = new WeakSet<PoolClient>()

/** Buffers the writes of a connection until the next tick, so that the statements of a level cost one system call. */
function corkUntilNextTick(client: PoolClient) {
  if (corked.has(client)) return
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  corked.add(client)
  stream.cork()
  process.nextTick(() => {
    corked.delete(client)
    stream.uncork()
  })
}
