import { PostgresBackend } from "@agendajs/postgres-backend"
import type { AgendaBackend } from "agenda"
import { Pool } from "pg"
import type { Logger } from "pino"
import type { Config } from "../../config/config.js"
import type { Database } from "../../database/connect.js"
import { operatorError } from "../../errors/operator-error.js"
import { rootLimits } from "../../limits.js"
import { jobLimits } from "../limits.js"

/** Where Agenda stores its jobs. */
export interface AgendaStore {
  backend: AgendaBackend
  /** Called when the server has started: from then on a statement waits for a connection as long as those of requests. */
  started(): void
  close(): Promise<void>
}

/** The store of Agenda: MongoDB when it is configured, otherwise the database of the server. */
export async function agendaStore(config: Config, database: Database, log: Logger): Promise<AgendaStore> {
  const store = config.mongodbUrl ? await inMongo(config.mongodbUrl) : inPostgres(database)
  releaseLocksSafely(store.backend, log)
  lookOnceAtATime(store.backend)
  return store
}

function inPostgres(database: Database): AgendaStore {
  // A separate pool, because MikroORM's returns times as text and Agenda needs Dates.
  const options = {
    connectionString: database.url,
    max: jobLimits.agendaConnections,
    connectionTimeoutMillis: jobLimits.agendaStartWaitMs,
  }
  const pool = database.guard.watch(new Pool(options))
  // The pool replaces an idle connection that the database has ended; without a listener its error would end the process.
  pool.on("error", () => {})
  const backend = new PostgresBackend({ pool, ensureSchema: false, disableNotifications: true })
  return {
    backend,
    started: () => void Object.assign(pool.options, { connectionTimeoutMillis: rootLimits.databaseWaitMs }),
    close: async () => void (pool.ending || (await pool.end())),
  }
}

async function inMongo(url: string): Promise<AgendaStore> {
  // Loaded on demand, because MongoDB's client is large.
  const [{ MongoClient }, { MongoBackend }] = await Promise.all([import("mongodb"), import("@agendajs/mongo-backend")])
  // A client of our own, because Agenda's would wait half a minute for a server that is lost.
  const client = new MongoClient(url, { serverSelectionTimeoutMS: jobLimits.mongoConnectMs })
  try {
    // Checked first, because without a server Agenda's start never resolves.
    await client.db().command({ ping: 1 })
  } catch {
    await client.close()
    throw operatorError("MONGODB_URL: no MongoDB answers there")
  }
  return { backend: new MongoBackend({ mongo: client.db() }), started: () => {}, close: () => client.close() }
}

/** Handles errors of releasing a lock, which Agenda does not await: they would end the process. The lock expires. */
function releaseLocksSafely({ repository }: AgendaBackend, log: Logger) {
  const release = repository.unlockJob.bind(repository)
  repository.unlockJob = (job) => release(job).catch((error) => log.warn({ err: error }, "the lock of a job was not released"))
}

/**
 * Finds no job of a name while the search before is still waiting: Agenda searches at an interval without regard to earlier searches, and on a
 * slow database they would queue for its few connections until everything that waits behind them fails.
 */
function lookOnceAtATime({ repository }: AgendaBackend) {
  const looking = new Set<string>()
  const look = repository.getNextJobToRun.bind(repository)
  repository.getNextJobToRun = async (name, ...times) => {
    if (looking.has(name)) return undefined
    looking.add(name)
    try {
      return await look(name, ...times)
    } finally {
      looking.delete(name)
    }
  }
}
