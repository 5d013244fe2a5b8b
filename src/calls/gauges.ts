import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"

const counts: Statement<{ waiting: number; on_line: number }> = {
  name: "count-calls",
  text: `select count(*) filter (where status = 'queued')::integer as waiting,
      count(*) filter (where status in ('dialing', 'in_progress'))::integer as on_line
    from call where status in ('queued', 'dialing', 'in_progress')`,
}

/** Adds the gauges of calls that wait for a line, and of lines in use, over all companies. */
export function callGauges({ metrics, database }: Pick<Services, "metrics" | "database">) {
  let reading: Promise<{ waiting: number; on_line: number }> | null = null
  // The gauges of one scrape are read at once, and share one statement.
  const read = () => {
    reading ??= unscoped(database, counts, [])
      .then(([row]) => row!)
      .finally(() => {
        reading = null
      })
    return reading
  }
  metrics.gauge("platform_calls_waiting", "Calls that wait for a line.", async () => (await read()).waiting)
  metrics.gauge("platform_voice_lines_in_use", "Lines of companies that a call occupies.", async () => (await read()).on_line)
}
