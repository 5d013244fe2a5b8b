import { EventEmitter, once } from "node:events"
import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, onThisMachine, sleep } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { killAt, killsBy } from "./kit/kills.js"
import { type Messenger, openMessengers } from "./kit/messengers.js"
import { comeToRest, gaps, notToldOnce, storedIn } from "./kit/store.js"
import type { Deployment } from "./kit/test-bed.js"

/** How many customers write how often, and how often the server is killed. */
export interface InboundSize {
  customers: number
  updatesOfEach: number
  kills: number
  /** How long a customer waits for the answer to a burst. */
  patienceMs: number
}

/** An update and how its vendor sends it: three times, each again until it is accepted. */
interface UpdatePlan {
  tag: string
  /** The share of the first attempt that is sent before the connection is dropped; null: it is not dropped. */
  droppedAfter: number | null
  /** When the two other copies are sent, counted from the first attempt. */
  copiesAfterMs: number[]
}

interface BurstPlan {
  updates: UpdatePlan[]
  /** Before the burst. */
  pauseMs: number
}

/** Messages of a burst that are stored so close to each other get one answer; long, so that most bursts are, also on a slow machine. */
const debounceMs = 1_500
/** Pause of a vendor before it sends again, at first and at most: it doubles. Real vendors wait longer. */
const repeatMs = { first: 100, most: 1_600 }

/** The share of bursts that may get a second answer, since a message was stored later than it arrived; the pace fails beyond three percent. */
const severalAnswers = 0.0075

export const storedOnce = "each update is one message, however often it was sent"

/** Vendors send each update three times, shuffled and with failures, while the server is killed again and again. */
export async function inboundCampaign(deployment: Deployment, report: Report, chance: Chance, size: InboundSize) {
  const plans = plansOf(chance, size)
  const updates = plans.flat().flatMap(({ updates }) => updates)
  const kills = killsBy(chance, size.kills, updates.length)
  const { env, messengers, close } = await openMessengers(deployment)
  try {
    const instance = await deployment.start("inbound", { ...env, REPLY_DEBOUNCE_MS: String(debounceMs), REPLY_MAX_WAIT_MS: "6000" })
    const writers = plans.map((bursts, index) => new Writer(instance, messengers[index % 2]!, index, bursts, size.patienceMs))
    for (const messenger of messengers) messenger.onArrival = ({ customer, text }) => writers[customer]?.hear(text)
    const begin = performance.now()
    const accepted = () => writers.reduce((sum, { written }) => sum + written.length, 0)
    const all = await Promise.all([killAt(instance, kills, accepted), ...writers.map((writer) => writer.write())]).then(() => writers)
    const tookMs = performance.now() - begin
    const statuses = all.flatMap((writer) => writer.statuses)
    const sent = statuses.filter((status) => status !== "no response").length
    report.note(
      `${updates.length} updates of ${size.customers} customers, each sent three times; the server was killed after ${kills.join(", ")} of them`,
    )
    report.note(`attempts: ${tally(statuses)}; ${updates.filter(({ droppedAfter }) => droppedAfter !== null).length} first ones dropped`)
    report.note(
      `${Math.round(tookMs / 1_000)} s: ${(updates.length / (tookMs / 1_000)).toFixed(0)} messages and ${(sent / (tookMs / 1_000)).toFixed(0)} answered requests a second`,
    )
    report.note(`longest wait for an answer ${worst(all.flatMap(({ waits }) => waits))}`)
    report.promise(
      "each of the three is accepted in the end, and none is refused",
      all.flatMap(({ refusals }) => refusals),
    )
    const isAnswered = all.every(({ unanswered }) => unanswered.length === 0)
    if (isAnswered)
      await must(
        "nothing is queued",
        async () => (await deployment.sql("select 1 from message where status = 'queued' limit 1")).length === 0,
      )
    // With unanswered customers the work never ends.
    if (isAnswered) await comeToRest(deployment, [instance])
    await judge(deployment, report, messengers, plans)
  } finally {
    await close()
  }
}

function plansOf(chance: Chance, { customers, updatesOfEach }: InboundSize): BurstPlan[][] {
  const total = customers * updatesOfEach
  const fates = chance.shuffled(count(total).map((index) => (index < total / 5 ? chance.pick([0, 0.5, 1, 1]) : null)))
  return count(customers).map((customer) => {
    const bursts: BurstPlan[] = []
    for (let written = 0; written < updatesOfEach; ) {
      const length = Math.min(chance.whole(1, 4), updatesOfEach - written)
      const updates = count(length).map((index): UpdatePlan => {
        const tag = `question-${String(customer).padStart(3, "0")}-${String(written + index).padStart(2, "0")}`
        // At once with the first one, soon after it, or when others have followed.
        const copiesAfterMs = count(2).map(() => chance.pick([0, chance.whole(1, 50), chance.whole(50, 6_000)]))
        return { tag, droppedAfter: fates[customer * updatesOfEach + written + index]!, copiesAfterMs }
      })
      bursts.push({ updates, pauseMs: written === 0 ? chance.whole(0, 3_000) : chance.whole(0, 800) })
      written += length
    }
    return bursts
  })
}

/** A customer who writes bursts and waits for the answer to each; their messenger sends what they write. */
class Writer {
  /** Tags of the updates whose first copy was accepted. */
  readonly written: string[] = []
  readonly unanswered: string[] = []
  readonly waits: number[] = []
  readonly statuses: string[] = []
  readonly refusals: string[] = []
  readonly #answers = new EventEmitter()
  readonly #answered = new Set<string>()

  constructor(
    private readonly instance: Instance,
    private readonly messenger: Messenger,
    private readonly customer: number,
    private readonly bursts: BurstPlan[],
    private readonly patienceMs: number,
  ) {}

  /** An answer has arrived. */
  hear(text: string) {
    const [, tag] = / to (question-\S+)$/.exec(text) ?? []
    if (!tag) return
    this.#answered.add(tag)
    this.#answers.emit(tag)
  }

  async write() {
    const copies: Promise<void>[] = []
    for (const { updates, pauseMs } of this.bursts) {
      await sleep(pauseMs)
      for (const { tag, droppedAfter, copiesAfterMs } of updates) {
        const body = this.messenger.update(this.customer, `Please answer ${tag}`)
        copies.push(...copiesAfterMs.map((ms) => sleep(ms).then(() => this.send(tag, body))))
        if (droppedAfter !== null) {
          await this.messenger.drop(this.instance, body, droppedAfter)
          await sleep(repeatMs.first)
        }
        await this.send(tag, body)
        this.written.push(tag)
      }
      await this.wait(updates.at(-1)!.tag)
    }
    await Promise.all(copies)
  }

  /** Sends an update until it is accepted. */
  private async send(tag: string, body: string) {
    const end = performance.now() + onThisMachine(this.patienceMs)
    for (let pauseMs = repeatMs.first; ; pauseMs = Math.min(pauseMs * 2, repeatMs.most)) {
      const status = await this.messenger.post(this.instance, body)
      this.statuses.push(String(status ?? "no response"))
      if (status !== null && status < 300) return
      // 503 asks to come back.
      // A vendor sends again after both.
      if (status !== null && status !== 503 && status !== 429) this.refusals.push(`${tag}: ${status}`)
      if (performance.now() > end) return void this.refusals.push(`${tag}: never accepted`)
      await sleep(pauseMs)
    }
  }

  private async wait(tag: string) {
    const begin = performance.now()
    if (!this.#answered.has(tag))
      await once(this.#answers, tag, { signal: AbortSignal.timeout(onThisMachine(this.patienceMs)) }).catch(() => {})
    if (!this.#answered.has(tag)) this.unanswered.push(tag)
    this.waits.push(performance.now() - begin)
  }
}

/** A message as it is stored. */
interface Row {
  chat_id: string
  messenger: string
  customer: string
  role: string
  text: string
  created_at: Date
}

async function judge(deployment: Deployment, report: Report, messengers: readonly Messenger[], plans: BurstPlan[][]) {
  const rows: Row[] = await deployment.sql(
    `select c.id as chat_id, c.messenger, c.external_id as customer, m.role, m.text, m.created_at from chat c join message m on m.chat_id = c.id
     where c.messenger = any($1) order by c.id, m.sequence`,
    [messengers.map(({ name }) => name)],
  )
  const faults = { chats: [] as string[], once: [] as string[], order: [] as string[], answered: [] as string[], burst: [] as string[] }
  let [close, bursts] = [0, 0]
  for (const [index, plan] of plans.entries()) {
    const messenger = messengers[index % 2]!
    const externalId = messenger.meet(index)
    const mine = rows.filter((row) => row.messenger === messenger.name && row.customer === externalId)
    const chats = new Set(mine.map(({ chat_id }) => chat_id))
    if (chats.size !== 1) faults.chats.push(`${externalId}: ${chats.size} chats`)
    const questions = mine.filter(({ role }) => role === "Customer")
    const answers = mine.filter(({ role }) => role === "Assistant")
    const planned = plan.flatMap(({ updates }) => updates.map(({ tag }) => tag))
    const stored = questions.map(({ text }) => text.replace("Please answer ", ""))
    const timesOf = (tag: string) => stored.filter((each) => each === tag).length
    faults.once.push(...planned.filter((tag) => timesOf(tag) !== 1).map((tag) => `${tag}: ${timesOf(tag)} messages`))
    const first = [...new Set(stored)]
    if (first.join() !== planned.join()) faults.order.push(`${externalId}: ${first.join(" ")}`)
    const answersTo = (tag: string) => answers.filter(({ text }) => text.endsWith(` to ${tag}`)).length
    for (const { updates } of plan) {
      const tags = updates.map(({ tag }) => tag)
      const last = tags.at(-1)!
      if (answersTo(last) !== 1) faults.answered.push(`${last}: ${answersTo(last)} answers`)
      faults.answered.push(
        ...tags
          .slice(0, -1)
          .filter((tag) => answersTo(tag) > 1)
          .map((tag) => `${tag}: ${answersTo(tag)} answers`),
      )
      const times = questions.filter(({ text }) => tags.some((tag) => text.endsWith(tag))).map(({ created_at }) => created_at.getTime())
      bursts += 1
      if (Math.max(...times) - Math.min(...times) >= debounceMs) continue
      close += 1
      const all = tags.reduce((sum, tag) => sum + answersTo(tag), 0)
      if (all !== 1) faults.burst.push(`${tags.join(" ")}: ${all} answers`)
    }
  }
  const all = rows.filter(({ role }) => role === "Customer").length
  report.note(
    `${all} messages in ${new Set(rows.map(({ chat_id }) => chat_id)).size} chats, ${rows.length - all} answers to ${bursts} bursts, ${close} of them within ${debounceMs} ms`,
  )
  const expected = plans.flat().flatMap(({ updates }) => updates).length
  report.promise(storedOnce, all === expected ? faults.once : [`${all} messages of ${expected} updates`, ...faults.once])
  report.promise("each customer has one chat", faults.chats)
  report.promise("messages are stored in the order of their first acceptance", faults.order)
  report.promise("each burst is answered, and no message twice", faults.answered)
  // A machine that is busy stores many bursts more slowly than they are debounced, and some messages long after the time that they bear.
  await report.reached(`bursts that were stored in ${debounceMs} ms`, close, bursts / 10)
  await report.pace("of those, the share that got more than one answer", faults.burst.length / Math.max(1, close), severalAnswers, "times")
  for (const fault of faults.burst.slice(0, 8)) report.note(`     ${fault}`)
  const messages = await storedIn(deployment, [...new Set(rows.map(({ chat_id }) => chat_id))])
  report.promise("messages are numbered without gaps, with one event each", [...gaps(messages), ...notToldOnce(messages)])
}
