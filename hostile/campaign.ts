import { setTimeout as sleep } from "node:timers/promises"
import type { Report } from "../test/kit/campaign/report.js"
import { readOpenApi } from "../test/kit/openapi.js"
import { allRequests, generate } from "./kit/all-requests.js"
import { Client } from "./kit/client.js"
import type { Generated } from "./kit/generated.js"
import { isDeep, Judge, type Tally } from "./kit/judge.js"
import { toolsOf } from "./kit/mcp-requests.js"
import { type Medians, median, mediansOf, timesAtRest } from "./kit/neighbor.js"
import type { TestBed } from "./kit/test-bed.js"
import { callsOfCompany } from "./kit/voice.js"

/** What the campaign sends, and what it allows. */
const limits = {
  /**
   * Requests a second, at most; and a client waits after each answer for as long as that took. The generator, the other company's client and
   * PostgreSQL share two cores with the server: with spare time it shows whether one company's requests delay another's, and not how busy the
   * machine is.
   */
  requestsPerSecond: 190,
  longestPauseMs: 50,
  /** Clients that send at once. */
  clients: 8,
  /** Requests before anything is measured, so that code is compiled and caches are filled. */
  warmUp: 3_000,
  longestSeconds: 600,
  /** So many requests run every operation, and show what memory becomes; fewer show neither. */
  wholeRun: 20_000,
  /** Megabytes above the level before, within 60 s of the end. */
  moreMemory: 150,
  /** Megabytes that the server may have at any time. */
  mostMemory: 500,
  /** How much longer than at rest the other company's query may take. */
  slower: 3,
  /** The time over which the median of its answers is taken. */
  windowMs: 10_000,
  quietMs: 5_000,
  neighborPauseMs: 20,
}

/** Sends generated requests of one company to a server, while another company's client measures how long its query takes. */
export async function campaign(bed: TestBed, report: Report, seed: number, requests: number) {
  const { server, watch, neighbor, attacker, victim } = bed
  const judge = new Judge(victim.marker, (await readOpenApi(server.url)).fits)
  const client = new Client(server.url, attacker, judge)
  const { arbitrary, keys } = allRequests(await toolsOf(server.url, attacker))
  const generated = generate(arbitrary, seed)
  const callsBefore = await bed.sql(callsOfCompany, [victim.id])
  await send(generated, client, Math.min(limits.warmUp, requests / 4))
  await neighbor.begin(server.url, victim, attacker, limits.neighborPauseMs)
  await sleep(limits.quietMs)
  const quiet = mediansOf(await neighbor.read())
  const partsBefore = await watch.memoryParts()
  const [before, cpuBefore, sentBefore] = [await watch.megabytes(), await watch.cpuSeconds(), judge.requests]
  const seen = await observed(bed, send(generated, client, requests))
  const [sent, cpu] = [judge.requests - sentBefore, (await watch.cpuSeconds()) - cpuBefore]
  const memory = await watch.returnsTo(before, limits.moreMemory)
  const peak = await watch.peakMegabytes()
  const partsAfter = await watch.memoryParts()
  client.close()

  report.note(
    `${sent} requests in ${seen.seconds.toFixed(0)} s, after ${sentBefore} to warm up; ${((cpu * 1_000) / sent).toFixed(1)} ms of the server's CPU each`,
  )
  report.note(
    `memory: ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${memory.megabytes.toFixed(0)} MB ${memory.seconds.toFixed(0)} s after`,
  )
  report.note(`before: ${partsBefore}; after: ${partsAfter}`)
  noteTallies(report, judge.tallies)
  report.promise("no 5xx, every error in the contract's shape, every response in its schema, no data of another company", judge.faults)
  report.promise("the other company's call is as it was", differences(callsBefore, await bed.sql(callsOfCompany, [victim.id])))
  report.promise("the server runs", watch.ended)
  report.promise("nothing was logged as an unexpected fault", watch.newFaults())
  await judgeService(report, quiet, seen)
  if (requests >= limits.wholeRun) {
    report.promise(`memory returns to ${limits.moreMemory} MB above the level before`, memory.faults)
    report.promise(
      `at most ${limits.mostMemory} MB at any time`,
      peak <= limits.mostMemory ? [] : [`${peak.toFixed(0)} MB, since the start of the server`],
    )
    report.promise(
      "every root field, every route, every tool and every hook was run",
      keys.filter((key) => !wasReached(judge.tallies.get(key))),
    )
  }
  await report.pace("all requests", seen.seconds, limits.longestSeconds, "s")
}

/** What the other company's client saw while requests were sent. */
interface Seen {
  seconds: number
  /** One for each window of time, with what held the server's event loop longest in the minute before its end. */
  windows: (Medians & { turns: string })[]
  slowest: number
  faults: string[]
}

/** Reads what the other company's client sees until the work is done. */
async function observed({ neighbor, watch }: TestBed, work: Promise<void>): Promise<Seen> {
  const begin = performance.now()
  const seen: Seen = { seconds: 0, windows: [], slowest: 0, faults: [] }
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([sleep(limits.windowMs), done])
    const sight = await neighbor.read()
    // A window that the end has cut says little.
    if (!isOver || seen.windows.length === 0) seen.windows.push({ ...mediansOf(sight), turns: await watch.longestTurns() })
    seen.slowest = Math.max(seen.slowest, ...sight.times)
    seen.faults.push(...sight.faults)
  }
  neighbor.stop()
  return { ...seen, seconds: (performance.now() - begin) / 1_000 }
}

/** Judges how the other company was served. */
async function judgeService(report: Report, quiet: Medians, { windows, slowest: slowestMs, faults }: Seen) {
  const most = (values: number[]) => Math.max(0, ...values).toFixed(1)
  const [answers, delays] = [windows.map(({ answer }) => answer), windows.map(({ delay }) => delay)]
  report.note(
    `another company's query: ${quiet.answer.toFixed(1)} ms at rest; medians of ${median(answers).toFixed(1)} ms, ${most(answers)} ms at most; slowest ${slowestMs.toFixed(0)} ms`,
  )
  report.note(
    `a server that does nothing: ${quiet.delay.toFixed(1)} ms at rest; medians of ${median(delays).toFixed(1)} ms, ${most(delays)} ms at most`,
  )
  report.note(`its medians, by window: ${answers.map((answer) => answer.toFixed(1)).join(" ")}`)
  for (const [index, { turns, ...seen }] of windows.entries()) {
    const times = timesAtRest(quiet, seen)
    if (times <= limits.slower) continue
    const second = (index * limits.windowMs) / 1_000
    report.note(`from second ${second}: a median of ${seen.answer.toFixed(1)} ms, ${times.toFixed(1)} times that at rest; ${turns}`)
  }
  report.promise("the other company is served correctly", faults)
  const slowest = Math.max(0, ...windows.map((seen) => timesAtRest(quiet, seen)))
  await report.pace("the other company's median, of its median at rest", slowest, limits.slower, "times")
}

/** Sends as many requests, paced from now on. */
async function send(generated: Generator<Generated>, client: Client, requests: number) {
  const begin = performance.now()
  let sent = 0
  const lane = async () => {
    while (sent < requests) {
      const next = generated.next().value as Generated
      sent += next.requests
      const due = begin + (sent / limits.requestsPerSecond) * 1_000
      const early = due - performance.now()
      if (early > 0) await sleep(early)
      const sentAt = performance.now()
      await next.send(client)
      await sleep(Math.min(limits.longestPauseMs, performance.now() - sentAt))
    }
  }
  await Promise.all(Array.from({ length: limits.clients }, lane))
}

/** The change of rows, in words; none where they are as they were. */
function differences(before: unknown[], after: unknown[]): string[] {
  const [was, is] = [before, after].map((rows) => JSON.stringify(rows))
  return was === is ? [] : [`${was} before, ${is} after`]
}

const wasReached = (tally: Tally | undefined) => [...(tally?.keys() ?? [])].some(isDeep)

function noteTallies(report: Report, tallies: Map<string, Tally>) {
  for (const [key, tally] of [...tallies].sort(([one], [other]) => one.localeCompare(other))) {
    const outcomes = [...tally].sort(([, one], [, other]) => other - one).map(([outcome, times]) => `${times} ${outcome}`)
    report.note(`${key}: ${outcomes.join(", ")}`)
  }
}
