import { setTimeout as sleep } from "node:timers/promises"
import type { Report } from "../../test/kit/campaign/report.js"
import { mediansOf, timesAtRest } from "../kit/neighbor.js"
import type { TestBed } from "../kit/test-bed.js"
import type { Attack } from "./attack.js"

const limits = {
  /** The share of its throughput at rest that the other company keeps. */
  share: 1 / 5,
  /** The longest answer. */
  answerMs: 2_000,
  /** Megabytes above the level before, within 60 s. */
  moreMemory: 100,
  quietMs: 2_500,
  /** How much longer than at rest the other company's query may take, and the pause between two of them. */
  slower: 3,
  pauseMs: 20,
  /** A rate over less time says little. */
  shortestMs: 2_000,
}

/** Runs an attack while another company's client sends its small query again and again. */
export async function runAttack(bed: TestBed, attack: Attack, report: Report) {
  const { server, watch, neighbor, attacker, victim } = bed
  await attack.warmUp?.(bed)
  await neighbor.begin(server.url, victim, attacker, attack.mustNotDelay ? limits.pauseMs : 0)
  await sleep(limits.quietMs)
  const quiet = await neighbor.read()
  const before = await watch.megabytes()
  const cpuBefore = await watch.cpuSeconds()
  const begin = performance.now()
  await attack.run(bed, report)
  const seconds = (performance.now() - begin) / 1_000
  await sleep(Math.max(0, limits.shortestMs - seconds * 1_000))
  const cpu = (await watch.cpuSeconds()) - cpuBefore
  const during = await neighbor.read()
  neighbor.stop()
  const memory = await watch.returnsTo(before, limits.moreMemory)

  const [rate, quietRate] = [during, quiet].map(({ times, seconds }) => times.length / seconds) as [number, number]
  const slowest = Math.max(0, ...during.times)
  report.note(
    `${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of the server's CPU; another company: ${quietRate.toFixed(0)} queries a second at rest, ${rate.toFixed(0)} meanwhile, slowest ${slowest.toFixed(0)} ms`,
  )
  report.note(`memory: ${before.toFixed(0)} MB before, ${memory.megabytes.toFixed(0)} MB ${memory.seconds.toFixed(0)} s after`)
  report.promise("the server runs", watch.ended)
  report.promise("nothing was logged as an unexpected fault", watch.newFaults())
  report.promise("the other company is served correctly", [...quiet.faults, ...during.faults])
  if (attack.mustNotDelay) {
    const [before, meanwhile] = [mediansOf(quiet), mediansOf(during)]
    const show = ({ answer, delay }: typeof before) => `${answer.toFixed(1)} ms (a server that does nothing ${delay.toFixed(1)} ms)`
    report.note(`medians of the other company's query: ${show(before)} at rest, ${show(meanwhile)} meanwhile`)
    await report.pace("the other company's median, of its median at rest", timesAtRest(before, meanwhile), limits.slower, "times")
  }
  if (!attack.isLoad) return
  await report.pace("a fifth of the other company's rate at rest, of that meanwhile", (quietRate * limits.share) / rate, 1, "times")
  await report.pace("its longest answer", slowest, limits.answerMs)
  report.promise(`memory returns to ${limits.moreMemory} MB above the level before`, memory.faults)
}
