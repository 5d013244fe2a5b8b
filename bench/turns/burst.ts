import { setTimeout as sleep } from "node:timers/promises"
import { createChats, questionOf } from "./chats.js"
import type { Deployment } from "./deployment.js"
import type { HookResult, PacedLoad } from "./load.js"
import { at } from "./measurement.js"
import type { TurnOptions } from "./options.js"
import type { Readings } from "./person.js"
import { awaitAnswers, proveAnswered } from "./proof.js"
import type { Side } from "./sides.js"

/** The customers who write within a second. */
export const customers = 2_000
const debounceMs = 4_000
const quietSeconds = 4

/** What a round of the burst brought. */
export interface BurstReading {
  /** Seconds in which the messages were stored, and from the first due time to the last answer. */
  storedIn: number
  answeredIn: number
  failed: number
  /** The most by which an answer came before one that was due earlier, in milliseconds of due time. */
  inversionMs: number
  /** Medians of a person's request in milliseconds: before the burst, while its messages are stored, and until the last answer. */
  quietMs: number
  storingMs: number
  meanwhileMs: number
  /** The longest of a person's requests during the burst. */
  longestMs: number
}

/** B: 2,000 customers write within a second, while a person reads the inbox. */
export async function measureBurst(deployment: Deployment, { rounds }: TurnOptions): Promise<BurstReading[]> {
  await using stack = new AsyncDisposableStack()
  const [ours] = await deployment.start(stack, ["ours"], { REPLY_DEBOUNCE_MS: String(debounceMs) })
  const found: BurstReading[] = []
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const reading = await runBurst(deployment, ours!, round === 0 ? customers / 10 : customers)
    if (round === 0) continue
    found.push(reading)
    const { answeredIn, inversionMs, quietMs, meanwhileMs } = reading
    const person = `a person's request ${quietMs.toFixed(1)} ms when quiet, ${meanwhileMs.toFixed(1)} meanwhile`
    deployment.say(
      `B round ${round} ${customers} answered in ${answeredIn.toFixed(1)} s, out of order by ${inversionMs.toFixed(0)} ms, ${person}`,
    )
  }
  return found
}

async function runBurst(deployment: Deployment, side: Side, count: number): Promise<BurstReading> {
  const { person, standIns, load } = deployment
  await standIns.ask({ reset: { thinkMs: 0 } })
  const chats = await createChats(side, { count, answeredBy: "assistant", dueAt: null })
  const order: PacedLoad = { url: side.url, perSecond: count, requests: chats.map((chat) => questionOf(deployment, chat)) }
  await person.ask({ url: side.url, token: side.companies[0]!.token })
  await sleep(quietSeconds * 1000)
  const begin = Date.now()
  const { bad, seconds } = await load.ask<HookResult>(order)
  if (bad > 0) throw new Error(`${bad} of ${count} messages were refused`)
  await awaitAnswers(deployment, side, chats, 180)
  const { readings } = await person.ask<Readings>("end")

  const { answered, failed } = await proveAnswered(deployment, side, chats, 0)
  answered.sort((one, other) => one.storedAt - other.storedAt)
  let [latest, inversionMs] = [0, 0]
  for (const { askedAt } of answered) {
    inversionMs = Math.max(inversionMs, latest - askedAt)
    latest = Math.max(latest, askedAt)
  }
  const firstDue = Math.min(...answered.map(({ askedAt }) => askedAt)) + debounceMs
  const end = answered.at(-1)!.storedAt
  // Between the last message and the first due time the server rests.
  const isStoring = (time: number) => time >= begin && time <= begin + seconds * 1000
  const isBusy = (time: number) => isStoring(time) || (time >= firstDue && time <= end)
  const timesOf = (isWanted: (time: number) => boolean) =>
    readings
      .filter(({ at }) => isWanted(at))
      .map(({ ms }) => ms)
      .sort((one, other) => one - other)
  const [quiet, busy] = [timesOf((time) => time < begin), timesOf(isBusy)]
  return {
    storedIn: seconds,
    answeredIn: (end - firstDue) / 1000,
    failed,
    inversionMs,
    quietMs: at(quiet, 0.5),
    storingMs: at(timesOf(isStoring), 0.5),
    meanwhileMs: at(busy, 0.5),
    longestMs: busy.at(-1)!,
  }
}
