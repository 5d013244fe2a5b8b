import { MongoClient } from "mongodb"
import type { World } from "./world.js"

/** A job that Agenda stores. */
interface StoredJob {
  name: string
  data?: { id?: string } | null
  repeatInterval?: string | number | null
  /** When it was locked last, in milliseconds since the epoch or as a date; null while nobody runs it. */
  lockedAt?: number | Date | null
}

/** Agenda's jobs, in PostgreSQL or, where the server has it, in MongoDB. */
export async function storedJobs({ services, sql }: Pick<World, "services" | "sql">): Promise<StoredJob[]> {
  const { mongodbUrl } = services.config
  if (!mongodbUrl)
    return sql(
      'select name, data, repeat_interval as "repeatInterval", extract(epoch from locked_at)::float8 * 1000 as "lockedAt" from agenda_jobs',
    )
  return inMongo(mongodbUrl, (jobs) => jobs.find().toArray())
}

/** Stores a job of Agenda that is due in an hour. */
export async function storeJob({ services, sql }: Pick<World, "services" | "sql">, name: string) {
  const { mongodbUrl } = services.config
  if (!mongodbUrl)
    return void (await sql("insert into agenda_jobs (name, data, next_run_at) values ($1, '{}', now() + interval '1 hour')", [name]))
  await inMongo(mongodbUrl, (jobs) => jobs.insertOne({ name, data: {}, nextRunAt: new Date(Date.now() + 3_600_000) }))
}

async function inMongo<T>(url: string, run: (jobs: ReturnType<typeof jobsOf>) => Promise<T>): Promise<T> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3_000 })
  try {
    return await run(jobsOf(client))
  } finally {
    await client.close()
  }
}

const jobsOf = (client: MongoClient) => client.db().collection<StoredJob & { nextRunAt: Date }>("agendaJobs")
