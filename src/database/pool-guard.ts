import type { Duplex } from "node:stream"
import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from "pg"

/** The error of a statement that gets no connection, or no answer, in time, with the system's code for that; requests that meet it are 503. */
export const timeoutError = () => Object.assign(new Error("The database does not answer"), { code: "ETIMEDOUT" })

/**
 * Guards the connection pools of a process. While the database does not answer, no statement waits for it: open connections are destroyed and
 * new ones are refused. And a connection that has ended never keeps its place in a pool.
 */
export class PoolGuard {
  readonly #clients = new Set<PoolClient>()
  #isSuspended = false

  /** Guards a pool; called before its first connection is made. */
  watch(pool: Pool): Pool {
    closeFailedConnections(pool)
    const inUse = new WeakSet<PoolClient>()
    pool.on("connect", (client) => {
      this.#clients.add(client)
      // The user of the connection gets its errors; an "error" event that nothing listens to would end the process.
      client.on("error", () => {})
      client.once("end", () => {
        this.#clients.delete(client)
        // Kysely does not release a connection on which BEGIN, COMMIT or ROLLBACK failed; its place would be lost for good.
        if (inUse.has(client)) client.release(true)
        client.release = () => {}
      })
    })
    pool.on("acquire", (client) => inUse.add(client))
    pool.on("release", (_error, client) => inUse.delete(client))
    const connect = pool.connect.bind(pool) as (callback?: (error: Error) => void) => Promise<PoolClient>
    const guarded: typeof connect = (callback) => {
      if (!this.#isSuspended) return connect(callback)
      return callback ? (callback(timeoutError()) as never) : Promise.reject(timeoutError())
    }
    return Object.assign(pool, { connect: guarded })
  }

  /** Fails every statement that waits for the database, and every further one until `resume`. */
  suspend() {
    this.#isSuspended = true
    for (const client of this.#clients) destroyConnection(client, timeoutError())
  }

  /** Lets statements through again. */
  resume() {
    this.#isSuspended = false
  }
}

/**
 * Makes a pool close the socket of a connection that cannot be opened. pg leaves one that fails on this side, as without a password, to
 * PostgreSQL, which keeps it for a minute (`authentication_timeout`): attempts to reconnect would use up its connections.
 */
function closeFailedConnections(pool: Pool) {
  const internal = pool as unknown as { Client: typeof Client }
  internal.Client = class extends internal.Client {
    constructor(options: ClientConfig) {
      super(options)
      const connect = this.connect.bind(this)
      const closing = (callback: (error: Error | null) => void) =>
        connect((error: Error | null) => {
          if (error) destroyConnection(this)
          callback(error)
        })
      Object.assign(this, { connect: closing })
    }
  }
}

/** Ends a connection without waiting for the other side. */
export function destroyConnection(client: ClientBase, error?: Error) {
  ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy(error)
}
