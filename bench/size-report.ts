import { Figures, tableOf } from "./figures.js"
import type { Measurement } from "./measure.js"
import type { Options, Workload } from "./options.js"
import { titles } from "./report.js"
import { tenfoldCostsAtMost, verdict } from "./targets.js"

/** Our server, and hand-written SQL for the same answer. */
export type SizeContestant = "ours" | "LIMIT-rows"

/** Which database: with all chats, or with a tenth of them. */
export type Extent = "all" | "a tenth"

/** One contestant on one database under one workload in one round. */
export type SizeMeasurement = Omit<Measurement, "contestant"> & { contestant: `${SizeContestant}, ${Extent}` }

/** The tables of S1, and whether its targets were met. */
export function sizeReport(
  found: SizeMeasurement[],
  { size, workloads, rounds, seconds, connections }: Options,
  page: number,
  postgres: string,
): string {
  const figures = new Figures(found)
  const costs = (workload: Workload, contestant: SizeContestant) =>
    figures.ratio([workload, `${contestant}, a tenth`], [workload, `${contestant}, all`])
  const cpu = (workload: Workload, contestant: SizeContestant, figure: "serverCpu" | "databaseCpu") =>
    figures.ratio([workload, `${contestant}, all`], [workload, `${contestant}, a tenth`], figure)
  const tables = workloads.map((workload) => {
    const rows = (["ours", "LIMIT-rows"] as const).flatMap((contestant) => {
      if (Number.isNaN(costs(workload, contestant))) return []
      return (["all", "a tenth"] as const).map((extent) => {
        const figure = (name: Parameters<typeof figures.median>[2], digits: number) =>
          figures.median(workload, `${contestant}, ${extent}`, name).toFixed(digits)
        const load = [figure("perSecond", 0), figure("p50", 1), figure("p99", 1), figure("serverCpu", 3), figure("databaseCpu", 3)]
        const ratios = [costs(workload, contestant), cpu(workload, contestant, "serverCpu"), cpu(workload, contestant, "databaseCpu")]
        return [`${contestant}, ${extent}`, ...load, ...(extent === "all" ? ratios.map((ratio) => ratio.toFixed(2)) : ["", "", ""])]
      })
    })
    return `${titles[workload]}\n${tableOf([head, ...rows])}`
  })
  const verdicts = workloads.map((workload) =>
    verdict(workload, "cost with all chats, of that with a tenth", { atMost: tenfoldCostsAtMost }, [costs(workload, "ours")]),
  )
  const what = `${size.chats} chats and a tenth of them, in ${size.others + 1} companies, ${connections} connections, ${rounds} rounds of ${seconds} s`
  const parts = [
    `${what}; the far page of W6 is page ${page}; Node ${process.version}, ${postgres}`,
    ...tables,
    tableOf([["", "Targets for ours", "target", "", ""], ...verdicts], 3),
  ]
  return parts.join("\n\n")
}

const head = ["", "req/s", "p50 ms", "p99 ms", "CPU ms/req", "DB CPU ms/req", "cost, of a tenth's", "CPU, of it", "DB CPU, of it"]
