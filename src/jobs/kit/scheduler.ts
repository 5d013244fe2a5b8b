import { Agenda, type Job as AgendaJob } from "agenda"
import type { Logger } from "pino"
import type { Config } from "../../config/config.js"
import type { JobScheduler, Services } from "../../context/services.js"
import type { Database } from "../../database/connect.js"
import { SampledLog } from "../../observability/sampled-log.js"
import { jobLimits } from "../limits.js"
import { agendaStore } from "./agenda-store.js"
import { DueTimes } from "./due-times.js"

/** A job on a row of one company; the row stores what is due, the scheduler only starts the job at that time. */
export interface Job {
  name: string
  /** `dueAt` is known for durable work. */
  run(services: Services, companyId: string, id: string, dueAt?: Date): Promise<void>
}

/** A job without a row, run at an interval. */
export interface Sweep {
  name: string
  /** Its interval in seconds; some depend on the configuration. */
  everySeconds: number | ((config: Config) => number)
  /** Whether its job only starts it, so that soon after this instance was killed another one starts the next. */
  isDetached?: boolean
  run(services: Services): Promise<void>
}

/** Jobs by the way they are started. */
export interface Jobs {
  /** Durable work, whose due times the instance that stored them keeps in memory. */
  work: Job[]
  /** Jobs that lie far ahead, which Agenda stores. */
  stored: Job[]
  /** What recurs, which Agenda starts on one of the instances. */
  sweeps: Sweep[]
}

/** Starts jobs: durable work from memory, everything else with Agenda. */
export interface RunningScheduler extends JobScheduler {
  start(services: Services): Promise<void>
  /** Starts no more jobs; jobs for other instances can still be scheduled. */
  pause(): Promise<void>
  stop(): Promise<void>
}

/** Creates the job scheduler; nothing runs before `start`. */
export async function makeScheduler(config: Config, database: Database, log: Logger, jobs: Jobs): Promise<RunningScheduler> {
  const { backend, started, close } = await agendaStore(config, database, log)
  const agenda = new Agenda({
    backend,
    processEvery: jobLimits.agendaPollMs,
    defaultConcurrency: jobLimits.agendaConcurrency,
    maxConcurrency: jobLimits.agendaConcurrency * 2,
    // Another process can soon run the job of a killed one; the lease on the row prevents double work.
    defaultLockLifetime: jobLimits.agendaLockMs,
    removeOnComplete: true,
  })
  const sampled = new SampledLog(log)
  // The next sweep repeats failed work; without a listener the error would end the process.
  agenda.on("error", (error: Error) => {
    // Agenda's look at running jobs may come to one that has ended at this moment.
    const level = /no lockedAt date found/.test(error.message) ? "debug" : "warn"
    sampled.line(level, "job scheduler error", { err: error })
  })
  // Only the stop waits until jobs are stored, so that released work starts on another instance.
  const storing = new Set<Promise<unknown>>()
  const dueTimes = new DueTimes()
  const work = new Map(jobs.work.map((kind) => [kind.name, kind]))
  const pause = async () => {
    dueTimes.stop()
    // Locks that are not released expire.
    await agenda.stop(false).catch((error) => log.warn({ err: error }, "the locks of jobs were not released"))
  }
  return {
    async schedule(scheduled) {
      const { job, companyId, id, at } = scheduled
      if (work.has(job)) return dueTimes.expect(scheduled)
      // A further job for each wake-up: Agenda would forget a moved job if it is running.
      // A few milliseconds late, because a timer may fire a millisecond early and would find nothing due.
      const stored = agenda
        .schedule(new Date(at.getTime() + jobLimits.agendaSlackMs), job, { companyId, id })
        // If the job cannot be stored, the sweep finds the due row.
        .catch((error) => log.warn({ err: error, scheduled }, "a job could not be scheduled; the sweep will find its work"))
        .finally(() => storing.delete(stored))
      storing.add(stored)
      await stored
    },
    async start(services) {
      dueTimes.begin(({ job, companyId, id, at }) =>
        services.running.add(runLogged(services, job, () => work.get(job)!.run(services, companyId, id, at))),
      )
      for (const { name, run } of jobs.stored)
        agenda.define<{ companyId: string; id: string }>(name, ({ attrs }) =>
          runLogged(services, name, () => run(services, attrs.data.companyId, attrs.data.id)),
        )
      for (const sweep of jobs.sweeps) {
        // A stop waits for those that run, which need the database.
        const start = () => services.running.add(runLogged(services, sweep.name, () => sweep.run(services)))
        if (sweep.isDetached)
          agenda.define(sweep.name, async () => void start(), { concurrency: 1, lockLifetime: jobLimits.detachedLockMs })
        else agenda.define(sweep.name, (job) => holding(job, log, start()), { concurrency: 1 })
      }
      await agenda.start()
      // Earlier versions stored them here; nothing would start or remove them.
      await agenda.cancel({ names: [...work.keys()] })
      for (const { name, everySeconds } of jobs.sweeps) {
        const seconds = typeof everySeconds === "number" ? everySeconds : everySeconds(services.config)
        await agenda.every(seconds * 1000, name)
      }
      started()
    },
    ping: async () => void (await agenda.queryJobs({ limit: 1 })),
    pause,
    async stop() {
      await pause()
      await Promise.all(storing)
      // Agenda does not close its connections if it was never started.
      await close()
    },
  }
}

/** Keeps the lock of a job while its work goes on, so that no other instance begins the same. */
async function holding(job: AgendaJob, log: Logger, work: Promise<void>) {
  const renew = () => void job.touch().catch((error) => log.warn({ err: error }, "the lock of a job was not renewed"))
  const timer = setInterval(renew, jobLimits.agendaLockMs / 3)
  await work.finally(() => clearInterval(timer))
}

/** Logs a failed job; the sweep repeats it, because the row still stores what is due. */
async function runLogged(services: Pick<Services, "log">, name: string, run: () => Promise<void>) {
  await run().catch((error) => services.log.error({ err: error, job: name }, "job failed"))
}
