import type { Actor } from "../entities/control-change.js"
import type { AiDisableReason, HandOffReason } from "../entities/kit/chat-words.js"
import type { MessageRole } from "../entities/message.js"
import { giftAnswers, giftTalks, handbookTalks, joinedTalks, personTalks } from "./demo-chats.js"
import { adminLimits } from "./limits.js"

/** Something that happened in a chat, in seconds after what happened before. */
export type Step = { after: number } & (
  | { kind: "message"; role: MessageRole; text: string }
  | { kind: "call"; tool: "searchKnowledge" | "turnOffAiMode"; params: object; response: object }
  | { kind: "control"; on: boolean; by: Actor["kind"]; reason: AiDisableReason | null; why: HandOffReason | null }
)

const [minute, hour] = [60, 60 * 60]
const dayMs = 24 * hour * 1000

const says = (after: number, role: MessageRole, text: string): Step => ({ after, kind: "message", role, text })
const turnsOff = (after: number, by: Actor["kind"], reason: AiDisableReason, why: HandOffReason): Step => ({
  after,
  kind: "control",
  on: false,
  by,
  reason,
  why,
})
const turnsOn = (after: number, by: Actor["kind"]): Step => ({ after, kind: "control", on: true, by, reason: null, why: null })

/** The nth of a list, from its beginning again after its end. */
export const nth = <Item>(list: readonly Item[], n: number): Item => list[n % list.length]!

/** How long people let a customer wait, in seconds. */
const waits = [4, 7, 12, 25, 9, 55, 95, 16].map((minutes) => minutes * minute)

/** A person answers after a hand-off, and AI returns when the chat was quiet for a while. */
const answeredByPerson = (n: number, text: string): Step[] => [
  says(nth(waits, n), "User", text),
  ...(n % 2 === 0 ? [says(3 * minute, "Customer", "Thank you!")] : []),
  turnsOn(10 * minute, "system"),
]

const handsOver = (reason: string): Step[] => [
  {
    after: 1,
    kind: "call",
    tool: "turnOffAiMode",
    params: { reason },
    response: { success: true, message: "A human colleague takes over from here." },
  },
  turnsOff(0, "assistant", "auto", "assistant"),
]

function answeredByAi(n: number): Step[] {
  const { questions, answer } = nth(handbookTalks, n)
  const steps = [says(0, "Customer", nth(questions, n)), says(5 + (n % 4), "Assistant", answer)]
  return n % 3 === 0 ? [...steps, says(40, "Customer", "Great, thanks."), says(5, "Assistant", "You are welcome!")] : steps
}

function handedOver(n: number): Step[] {
  const { question, reason, person } = nth(personTalks, n)
  const goodbye = says(6, "Assistant", "I am sorry to hear that. A colleague takes over and answers you here.")
  return [says(0, "Customer", question), goodbye, ...handsOver(reason), ...answeredByPerson(n, person)]
}

function joinedByPerson(n: number): Step[] {
  const { question, answer, more, person } = nth(joinedTalks, n)
  const before = [says(0, "Customer", question), says(6, "Assistant", answer), says(minute, "Customer", more)]
  return [...before, turnsOff(4 * minute, "user", "manual", "person"), says(30, "User", person), turnsOn(20 * minute, "user")]
}

function failed(n: number): Step[] {
  const { questions, answer } = nth(handbookTalks, n)
  return [says(0, "Customer", nth(questions, n)), turnsOff(45, "system", "auto", "failure"), ...answeredByPerson(n, answer)]
}

/** A question that the handbook does not answer: the search finds nothing. */
function unknown(n: number): Step[] {
  const { question, query } = nth(giftTalks, n)
  const search: Step = { after: 5, kind: "call", tool: "searchKnowledge", params: { query }, response: { data: [] } }
  const goodbye = says(3, "Assistant", "Our handbook says nothing about that. A colleague takes over and answers you here.")
  return [
    says(0, "Customer", question),
    search,
    goodbye,
    ...handsOver(`Not in the handbook: ${query}.`),
    ...answeredByPerson(n, nth(giftAnswers, n)),
  ]
}

/** Two days later the customer writes again, which reopens what AI had answered alone. */
const writesAgain = (n: number): Step[] => handedOver(n).map((step, index) => (index === 0 ? { ...step, after: 50 * hour } : step))

/** The Monday of the week of a time, in UTC. */
const mondayOf = (at: number) => {
  const midnight = at - (at % dayMs)
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * dayMs
}

/** What the nth chat is about: since the Monday of last week every fourth customer, and since this Monday three of five, ask about gifts. */
function talkOf(n: number, at: number, now: number): Step[] {
  if (n % 12 === 4) return handedOver(n)
  if (n % 24 === 9) return joinedByPerson(n)
  if (n % 24 === 11) return failed(n)
  const thisMonday = mondayOf(now)
  if (at >= thisMonday ? n % 5 < 3 : at >= thisMonday - 7 * dayMs && n % 4 === 1) return unknown(n)
  const canReturn = now - at > 6 * dayMs
  return n % 16 === 3 && canReturn ? [...answeredByAi(n), ...writesAgain(n)] : answeredByAi(n)
}

/** A chat of the demo: when it started, and what happened in it. `isOpen` when nobody has read it since the assistant handed over. */
export interface Talk {
  n: number
  at: number
  steps: Step[]
  isOpen?: boolean
}

/** Two chats of the last hour that wait for a person. */
const openTalks = (now: number): Talk[] =>
  [handedOver(0), unknown(1)].map((steps, n) => ({
    n,
    at: now - (35 - n * 20) * minute * 1000,
    steps: steps.slice(0, steps.findIndex(({ kind }) => kind === "control") + 1),
    isOpen: true,
  }))

/** The chats that began before the demo: those that have ended, and two that are open. */
export function* talks(now: number): Generator<Talk> {
  const today = now - (now % dayMs)
  let n = 0
  // The last ones are those of the day before yesterday: a stretch ends a day after its last message.
  for (let daysAgo = adminLimits.demoPastDays + 1; daysAgo >= 2; daysAgo--) {
    const day = today - daysAgo * dayMs
    const count = [0, 6].includes(new Date(day).getUTCDay()) ? 3 : 6
    for (let place = 0; place < count; place++, n++) {
      const at = day + (8 * hour + Math.floor((place * 11 * hour) / count) + ((n * 37) % 90) * minute) * 1000
      yield { n, at, steps: talkOf(n, at, now) }
    }
  }
  yield* openTalks(now)
}
