import { PostgresBackend } from "@agendajs/postgres-backend"
import { Agenda, type AgendaBackend } from "agenda"
import { Pool } from "pg"
import type { Logger } from "pino"
import type { Config } from "../../config.js"
import type { JobScheduler, Services } from "../../context/services.js"
import type { Database } from "../../database/connect.js"
import { rootLimits } from "../../limits.js"
import { sentence } from "../../sentence.js"
import { jobLimits } from "../limits.js"

/** A job on one company's row: what is due stands on the row, the scheduler only says when to look. */
export interface Job {
  name: string
  run(services: Services, companyId: string, id: string): Promise<void>
}

/** A job on no company's row, run at an interval. */
export interface Sweep {
  name: string
  /** Its interval; some depend on the configuration. */
  everySeconds: number | ((config: Config) => number)
  run(services: Services): Promise<void>
}

/** The job scheduler of the deployment: Agenda, behind one function. */
export interface RunningScheduler extends JobScheduler {
  start(services: Services, jobs: Job[], sweeps: Sweep[]): Promise<void>
  /** Runs no more jobs; those of other instances can still be scheduled. */
  pause(): Promise<void>
  stop(): Promise<void>
}

/** Where Agenda keeps its own table: MongoDB when it is configured, else the database of the server. */
async function backendOf(config: Config, database: Database): Promise<{ backend: AgendaBackend; close(): Promise<void> }> {
  if (!config.mongodbUrl) {
    // With a pool of its own: MikroORM's returns times as text, Agenda needs Dates.
    const options = { connectionString: database.url, max: jobLimits.clockConnections, connectionTimeoutMillis: rootLimits.databaseWaitMs }
    const pool = database.guard.guard(new Pool(options))
    // An idle connection that the database ended is replaced when the next is needed; without a listener the error would end the process.
    pool.on("error", () => {})
    const backend = new PostgresBackend({ pool, ensureSchema: false, disableNotifications: true })
    return { backend, close: async () => void (pool.ending || (await pool.end())) }
  }
  // Loaded only where it is used: MongoDB's client is large.
  const [{ MongoClient }, { MongoBackend }] = await Promise.all([import("mongodb"), import("@agendajs/mongo-backend")])
  const client = new MongoClient(config.mongodbUrl, { serverSelectionTimeoutMS: jobLimits.mongoConnectMs })
  try {
    // Checked first: without a server Agenda's start never resolves.
    await client.db().command({ ping: 1 })
  } catch {
    throw sentence("MONGODB_URL: no MongoDB answers there")
  } finally {
    await client.close()
  }
  const backend = new MongoBackend({ address: config.mongodbUrl })
  return { backend, close: () => backend.disconnect() }
}

/** Makes the job scheduler; nothing runs before `start`. */
export async function makeScheduler(config: Config, database: Database, log: Logger): Promise<RunningScheduler> {
  const { backend, close } = await backendOf(config, database)
  releaseLocksSafely(backend, log)
  const agenda = new Agenda({
    backend,
    processEvery: jobLimits.clockTickMs,
    defaultConcurrency: jobLimits.clockConcurrency,
    maxConcurrency: jobLimits.clockConcurrency * 2,
    // A killed worker's job is free again soon; the row's own lease decides who really works.
    defaultLockLifetime: jobLimits.clockLockMs,
    removeOnComplete: true,
  })
  // The next sweep repeats what failed; without a listener the error would end the process.
  agenda.on("error", (error) => log.warn({ err: error }, "job scheduler error"))
  // Only the stop waits until wake-ups are stored, so that released work is woken on another instance.
  const storing = new Set<Promise<unknown>>()
  return {
    async schedule(wake) {
      const { job, companyId, id, at } = wake
      // One more job per wake-up, not one that is moved: a job that is moved while it runs is forgotten when it ends.
      // A little late: a timer may fire a millisecond early, and would find nothing due yet.
      const stored = agenda
        .schedule(new Date(at.getTime() + jobLimits.clockSlackMs), job, { companyId, id })
        // Only a wake-up: when it cannot be stored, the sweep finds what is due on the row.
        .catch((error) => log.warn({ err: error, wake }, "a wake-up waits for the sweep"))
        .finally(() => storing.delete(stored))
      storing.add(stored)
      await stored
    },
    async start(services, jobs, sweeps) {
      for (const job of jobs) {
        agenda.define<{ companyId: string; id: string }>(job.name, ({ attrs }) =>
          guarded(services, job.name, () => job.run(services, attrs.data.companyId, attrs.data.id)),
        )
      }
      for (const sweep of sweeps)
        agenda.define(sweep.name, () => guarded(services, sweep.name, () => sweep.run(services)), { concurrency: 1 })
      await agenda.start()
      for (const { name, everySeconds } of sweeps) {
        const seconds = typeof everySeconds === "number" ? everySeconds : everySeconds(services.config)
        await agenda.every(seconds * 1000, name)
      }
    },
    ping: async () => void (await agenda.queryJobs({ limit: 1 })),
    pause: () => agenda.stop(false),
    async stop() {
      // The locks that it holds end by themselves.
      await agenda.stop(false).catch((error) => log.warn({ err: error }, "the locks of jobs were not released"))
      await Promise.all(storing)
      // Agenda leaves its connections open if it never started.
      await close()
    },
  }
}

/** Agenda does not wait until a lock is released: a failure would end the process. A lock that stays ends by itself. */
function releaseLocksSafely({ repository }: AgendaBackend, log: Logger) {
  const release = repository.unlockJob.bind(repository)
  repository.unlockJob = (job) => release(job).catch((error) => log.warn({ err: error }, "the lock of a job was not released"))
}

/** A job that fails is logged and left to the sweep; what it was to do still stands on the row. */
async function guarded(services: Pick<Services, "log">, name: string, run: () => Promise<void>) {
  await run().catch((error) => services.log.error({ err: error, job: name }, "job failed"))
}
