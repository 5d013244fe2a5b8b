import { createChats, questionOf } from "./chats.js"
import type { Deployment } from "./deployment.js"
import type { HookResult, PacedLoad } from "./load.js"
import { at, cpuWatch, type Row, type TurnMeasurement } from "./measurement.js"
import type { TurnOptions } from "./options.js"
import { awaitAnswers, proveAnswered } from "./proof.js"
import { interleaved } from "./rounds.js"
import { type Side, tidy } from "./sides.js"

/** Turns that run at once while the model takes its time: as many become due every second as end. */
interface Level {
  row: Row
  debounceMs: number
  thinkMs: number
  perSecond: number
}

const steady = (row: Row, atOnce: number): Level => ({ row, debounceMs: 4_000, thinkMs: 2_000, perSecond: atOnce / 2 })

/** By debounce: one process serves all levels of a debounce. */
const levels: Level[][] = [
  [steady("L10", 10), steady("L100", 100), steady("L500", 500)],
  [{ row: "L50ms", debounceMs: 50, thinkMs: 0, perSecond: 20 }],
]

/** L: how much later than its due time plus the model's time an answer is stored. */
export async function measureLatency(deployment: Deployment, options: TurnOptions): Promise<TurnMeasurement[]> {
  const found: TurnMeasurement[] = []
  for (const group of levels) {
    await using stack = new AsyncDisposableStack()
    const debounce = String(group[0]!.debounceMs)
    const sides = await deployment.start(stack, deployment.contestants, {
      REPLY_DEBOUNCE_MS: debounce,
      REPLY_MAX_WAIT_MS: String(2 * Number(debounce)),
    })
    // Code that never ran is slow at first.
    await interleaved(sides, 1, async (side) => {
      await runLevel(deployment, side, { ...group[0]!, thinkMs: 0, perSecond: 100 }, options.warmUpSeconds)
    })
    for (const level of group) {
      await interleaved(sides, options.rounds, async (side, round) => {
        await tidy(side)
        const figures = await runLevel(deployment, side, level, options.seconds)
        found.push({ workload: level.row, contestant: side.contestant, ...figures })
        const { p50, p99, perSecond, failed } = figures
        const overhead = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${perSecond.toFixed(2)} of the offered, ${failed} failed`
        deployment.say(`${level.row} round ${round + 1} ${side.contestant.padEnd(9)} ${overhead}`)
      })
    }
  }
  return found
}

/** Has one known visitor after another write, evenly over some seconds, and waits for the answers. */
async function runLevel(deployment: Deployment, side: Side, { debounceMs, thinkMs, perSecond }: Level, seconds: number) {
  await deployment.standIns.ask({ reset: { thinkMs } })
  const count = Math.max(20, Math.round(perSecond * seconds))
  const chats = await createChats(side, { count, answeredBy: "assistant", dueAt: null })
  const order: PacedLoad = { url: side.url, perSecond, requests: chats.map((chat) => questionOf(deployment, chat)) }
  const cpu = cpuWatch(deployment, side)
  const { bad } = await deployment.load.ask<HookResult>(order)
  if (bad > 0) throw new Error(`${side.contestant} refused ${bad} of ${count} messages`)
  await awaitAnswers(deployment, side, chats, 180)
  const used = cpu(count)
  const { answered, failed, tookMs } = await proveAnswered(deployment, side, chats, 0)
  const overheads = answered.map(({ tag, askedAt, storedAt }) => storedAt - askedAt - debounceMs - tookMs[tag]!)
  overheads.sort((one, other) => one - other)
  // From the first to the last: a server that falls behind stores over a longer time than in which the answers were due.
  const span = (times: number[]) => Math.max(...times) - Math.min(...times)
  const achieved = span(answered.map(({ askedAt }) => askedAt)) / span(answered.map(({ storedAt }) => storedAt))
  return { perSecond: achieved, p50: at(overheads, 0.5), p99: at(overheads, 0.99), failed, ...used }
}
