import type { Services } from "../../context/services.js"
import { clock } from "../../entities/kit/clock.js"
import type { Work } from "./work.js"
import type { WorkCounts } from "./work-declaration.js"

const states = ["due", "overdue", "running", "failed"] as const

/** Adds gauges for every kind of durable work, over all companies: due, overdue, running and failed work, and the age of the oldest. */
export function addWorkGauges(services: Services, work: Work[]) {
  const { metrics } = services
  for (const state of states)
    metrics.gauge(`platform_work_${state}`, `Durable work that is ${state}, by kind.`, () => each((counts) => counts[state]), "kind")
  metrics.gauge("platform_work_lag_seconds", "Time since the oldest work of a kind is due.", () => each(lagOf), "kind")

  let read: { at: number; counts: Promise<Map<string, WorkCounts>> } | null = null
  // The gauges of one scrape share one reading.
  const counts = () => {
    if (!read || performance.now() - read.at > 1_000) read = { at: performance.now(), counts: readCounts() }
    return read.counts
  }
  const readCounts = async () => new Map(await Promise.all(work.map(async (kind) => [kind.name, await kind.counts(services)] as const)))
  const each = async (value: (counts: WorkCounts) => number) => new Map([...(await counts())].map(([kind, found]) => [kind, value(found)]))
}

const lagOf = ({ oldest }: WorkCounts) => (oldest ? Math.max(0, (clock.now().getTime() - oldest.getTime()) / 1000) : 0)
