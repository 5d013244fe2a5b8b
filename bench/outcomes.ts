import { setTimeout as sleep } from "node:timers/promises"
import { type FreshServer, freshServer } from "./fresh-server.js"
import { fillStretches, type ReportedCompany, sizes } from "./outcomes-fill.js"
import { cpuMs, postgresCpuMs, residentMb } from "./processes.js"

const targetMs = 300
const rounds = 6
const timeZone = "Europe/Berlin"
const day = 24 * 60 * 60 * 1_000

/** O1: reports over a million stretches over REST, one after the other, and the list of all of them as CSV; returns the report. */
export async function measureOutcomes(say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const server = await freshServer(stack, "outcomes", say, (client) => {
    say(`filling ${sizes.stretches} stretches, and ${sizes.stretchesOfStranger} for each of ${sizes.strangers} other companies …`)
    return fillStretches(client)
  })
  const first = await timed(server, reportsOf(server.filled)[0]!)
  say(`the first report took ${first.toFixed(0)} ms; its sums are made …`)
  const begin = performance.now()
  await untilKept(server)
  const kept = (performance.now() - begin) / 1_000
  for (const report of reportsOf(server.filled)) await timed(server, report)
  const [server0, postgres0] = [cpuMs(server.pid), postgresCpuMs(server.postmaster)]
  const times: { report: string; took: number }[] = []
  for (let round = 0; round < rounds; round++)
    for (const report of reportsOf(server.filled)) times.push({ report, took: await timed(server, report) })
  const cpu = [cpuMs(server.pid) - server0, postgresCpuMs(server.postmaster) - postgres0].map((each) => each / times.length)
  return [...shown(times, first, kept, cpu), ...(await measureCsv(server))].join("\n")
}

/** Reports over the whole year, and over its second half compared with the first; every group, without a condition and with each. */
function reportsOf({ assistantId, personId }: ReportedCompany): string[] {
  const now = Date.now()
  const period = (days: number) => `from=${new Date(now - days * day).toISOString()}&to=${new Date(now).toISOString()}`
  const filters = [
    ...["", `assistantId:eq:${assistantId}`, "messenger:eq:widget", `personId:eq:${personId}`, "handOffReason:eq:assistant"],
    ...["outcome:eq:AI_ALONE", `assistantId:eq:${assistantId};messenger:eq:widget`],
  ]
  return ["DAY", "WEEK", "ASSISTANT", "MESSENGER", "PERSON", "HANDOFF_REASON"].flatMap((by) =>
    filters.flatMap((filter) => [365, 182].map((days) => `by=${by}&timeZone=${timeZone}&${period(days)}${filter && `&filter=${filter}`}`)),
  )
}

async function timed({ url, filled }: FreshServer<ReportedCompany>, report: string): Promise<number> {
  const begin = performance.now()
  const response = await fetch(`${url}/api/outcomes?${report}`, { headers: { "X-Access-Token": filled.token } })
  const body = (await response.json()) as { total?: { current: { stretches: number } } }
  const took = performance.now() - begin
  if (response.status !== 200 || !body.total?.current.stretches) throw new Error(`${report} answered ${response.status}`)
  return took
}

/** Waits until the sums of all days that are old enough are kept. */
async function untilKept({ client }: FreshServer<ReportedCompany>) {
  for (;;) {
    const { rows } = await client.query("select count(*)::integer as days from outcome_day")
    if (rows[0].days >= 355) return
    await sleep(500)
  }
}

function shown(times: { report: string; took: number }[], first: number, kept: number, cpu: number[]): string[] {
  const sorted = [...times].sort((one, other) => one.took - other.took)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.took
  return [
    `O1  reports over ${sizes.stretches} stretches of a company, over REST, time zone ${timeZone}`,
    `    the first ${first.toFixed(0)} ms (it reads all of them); their sums are made in ${kept.toFixed(0)} s, in the background`,
    `    then median ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, of ${times.length}; CPU of one: ${cpu[0]!.toFixed(1)} ms in the server, ${cpu[1]!.toFixed(0)} ms in PostgreSQL`,
    ...sorted
      .slice(-3)
      .reverse()
      .map(({ report, took }) => `    ${took.toFixed(0)} ms: ${report.replace(/&from=.*?&to=[^&]*/, "")}`),
    `O1  ${at(0.99).toFixed(0)} ms p99, target at most ${targetMs}: ${at(0.99) <= targetMs ? "ok" : "missed"}`,
  ]
}

/** Reads all stretches as CSV; the memory of the server must not grow with them. */
async function measureCsv({ url, pid, filled }: FreshServer<ReportedCompany>): Promise<string[]> {
  const before = residentMb(pid)
  let most = before
  const sampler = setInterval(() => {
    most = Math.max(most, residentMb(pid))
  }, 50)
  try {
    const begin = performance.now()
    const response = await fetch(`${url}/api/stretches`, { headers: { "X-Access-Token": filled.token, Accept: "text/csv" } })
    let [bytes, lines] = [0, 0]
    for await (const part of response.body!) {
      bytes += part.length
      for (const byte of part) if (byte === 10) lines += 1
    }
    if (lines !== sizes.stretches + 1) throw new Error(`The CSV has ${lines} lines`)
    const seconds = (performance.now() - begin) / 1_000
    return [
      `    CSV of all: ${lines - 1} rows, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(0)} s; resident ${before.toFixed(0)} MB before, at most ${most.toFixed(0)} MB`,
    ]
  } finally {
    clearInterval(sampler)
  }
}
