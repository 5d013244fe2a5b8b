import type { Instance } from "../../test/kit/campaign/instance.js"
import { must, sleep } from "../../test/kit/campaign/wait.js"
import type { Requests } from "./requests.js"
import type { Deployment } from "./test-bed.js"

/** How much of the machine an instance used at a moment. */
export interface Sample {
  at: number
  instance: string
  /** Resident memory in megabytes. */
  megabytes: number
  /** Sessions that PostgreSQL knows of this instance; null while it is away. */
  connections: number | null
}

/** The environment that has PostgreSQL tell an instance's sessions from the others'. */
export const named = (name: string) => ({ PGAPPNAME: name })

/** Looks at instances once a second until told to stop: memory by their own metrics, connections by PostgreSQL's list of sessions. */
export async function watchGauges(
  deployment: Deployment,
  requests: Requests,
  instances: Instance[],
  isOver: () => boolean,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const text = `select application_name as name, count(*)::integer as sessions from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' group by 1`
  while (!isOver()) {
    const next = sleep(1_000)
    const sessions = await deployment.sql(text).catch(() => null)
    for (const instance of instances) {
      const { megabytes } = await memory(requests, instance)
      const connections = sessions && (sessions.find(({ name }) => name === instance.name)?.sessions ?? 0)
      samples.push({ at: performance.now(), instance: instance.name, megabytes, connections })
    }
    await next
  }
  return samples
}

/** What each instance keeps, in megabytes of resident memory, when its garbage is collected. */
export const kept = (requests: Requests, instances: Instance[]): Promise<number[]> =>
  Promise.all(
    instances.map(async (instance) => {
      let { megabytes, collections } = await memory(requests, instance)
      const before = collections
      instance.collectGarbage()
      await must(`${instance.name} collects its garbage`, async () => {
        ;({ megabytes, collections } = await memory(requests, instance))
        return collections > before
      })
      return megabytes
    }),
  )

async function memory(requests: Requests, instance: Instance): Promise<{ megabytes: number; collections: number }> {
  const { text } = await requests.ask("metrics", instance, "/metrics")
  const bytes = Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
  const collections = Number(/^nodejs_gc_duration_seconds_count\{kind="major"\} (\S+)$/m.exec(text)?.[1] ?? 0)
  return { megabytes: bytes / 1024 / 1024, collections }
}
