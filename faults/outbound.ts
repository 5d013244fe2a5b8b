import type { OneFault } from "../simulate/kit/faults.js"
import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { killAt, killsBy } from "./kit/kills.js"
import { type Messenger, openMessengers } from "./kit/messengers.js"
import { judgeDeliveries } from "./kit/outbound-findings.js"
import { comeToRest, traceOf } from "./kit/store.js"
import { type Deployment, insist } from "./kit/test-bed.js"

/** How many chats of which kind, half of them on each messenger, and how often the server is killed. */
export interface OutboundSize {
  /** Chats in which a person writes. */
  written: number
  messagesOfEach: number
  /** Chats in which the assistant answers questions. */
  asked: number
  questionsOfEach: number
  /** How many of those a person takes over. */
  takenOver: number
  /** Whether those of Telegram are taken over between the beginning of a delivery and its request; for small campaigns alone. */
  atClaims?: boolean
  kills: number
  /** How long it may take until all is delivered, after the last message was written. */
  patienceMs: number
}

/** A take-over that is planned. */
interface TakeOverPlan {
  /** After so many answers. */
  answers: number
  /** When a request with a message of the chat is on its way, when a delivery has begun and none has left, or at any time. */
  around: "a request" | "a claim" | "anything"
  afterMs: number
  /** Fulfilled when the chat is taken over: until then the messenger does not answer the request; null leaves it to chance. */
  held: PromiseWithResolvers<void> | null
}

/** A chat with a customer: a person writes in it, or the assistant answers, until a person takes it over. */
export interface Talk {
  messenger: Messenger
  customer: number
  chatId: string
  /** Texts that a person has written, in order. */
  written: string[]
  /** How many requests the messenger had seen when the take-over was answered; null without one. */
  takenOverAt: number | null
}

interface TalkPlan {
  kind: "written" | "asked"
  messages: number
  pauseMs: number
  takeOver: TakeOverPlan | null
}

/** What goes wrong with a request. */
type Fault = Pick<OneFault, "fault" | "until">

/** What goes wrong with 30 % of the requests; the backoff doubles, so that no message fails more often in a row. */
const faultKinds = ["429", "500", "reset", "reset-after"] as const
const failing = { percent: 30, inARow: 4 }
/** How long the messages of a chat may need until the one that is held is sent. */
const heldMs = 180_000
/** Messages that a person writes after a take-over. */
const afterwards = 2

/** Persons and the assistant write to customers, while the vendors fail and the server is killed again and again. */
export async function outboundCampaign(deployment: Deployment, report: Report, chance: Chance, size: OutboundSize) {
  const plans = plansOf(chance, size)
  const total = size.written * size.messagesOfEach + size.asked * size.questionsOfEach
  const { env, messengers, close } = await openMessengers(deployment)
  try {
    const planned = plans.flatMap((plan, customer) => {
      const { faults, isIdempotent } = messengers[customer % 2]!
      const { answers, held } = plan.takeOver ?? {}
      const certain = (index: number): Fault[] => {
        if (held && index === answers! - 1) return [{ fault: "delay", until: held.promise }]
        // Of what a person writes, one message of a chat arrives twice whatever chance does to the others.
        return plan.kind === "written" && !isIdempotent && index === 0 ? [{ fault: "reset-after" }] : []
      }
      return count(plan.messages + (plan.takeOver ? afterwards : 0)).map((index) =>
        planFaults(chance, faults, tagOf(plan, customer, index), certain(index)),
      )
    })
    const instance = await deployment.start("outbound", env)
    const talks: Talk[] = plans.map((_, customer) => ({
      messenger: messengers[customer % 2]!,
      customer,
      chatId: "",
      written: [],
      takenOverAt: null,
    }))
    const begin = performance.now()
    const arrived = () => messengers.reduce((sum, { arrivals }) => sum + new Set(arrivals.map(({ text }) => text)).size, 0)
    // Some answers of chats that are taken over never leave.
    const kills = killsBy(chance, size.kills, total * 0.9)
    const killing = killAt(instance, kills, arrived)
    await Promise.all(talks.map((talk, index) => converse(deployment, instance, talk, plans[index]!)))
    const isThrough = () =>
      until(async () => (await deployment.sql("select 1 from message where status = 'queued' limit 1")).length === 0, size.patienceMs)
    await killing
    const isDelivered = await isThrough()
    const seconds = (performance.now() - begin) / 1_000
    const requests = messengers.reduce((sum, messenger) => sum + messenger.requests().length, 0)
    report.note(`the server was killed after ${kills.join(", ")} first arrivals; faults planned: ${tally(planned.flat())}`)
    report.note(
      `${requests} requests, ${arrived()} messages arrived in ${Math.round(seconds)} s: ${(arrived() / seconds).toFixed(1)} a second`,
    )
    if (isDelivered) await comeToRest(deployment, [instance])
    await judgeDeliveries(deployment, report, talks, total)
  } finally {
    await close()
  }
}

function plansOf(chance: Chance, size: OutboundSize): TalkPlan[] {
  const written = count(size.written).map(
    (): TalkPlan => ({ kind: "written", messages: size.messagesOfEach, pauseMs: chance.whole(0, 600), takeOver: null }),
  )
  const asked = count(size.asked).map((index): TalkPlan => {
    const around = size.atClaims && index % 2 === 0 ? "a claim" : index % 4 < 2 ? "a request" : "anything"
    const takeOver: TakeOverPlan = {
      answers: chance.whole(2, size.questionsOfEach),
      around,
      afterMs: chance.whole(0, around === "anything" ? 1_500 : 30),
      held: around === "a request" && index % 8 < 2 ? Promise.withResolvers() : null,
    }
    return {
      kind: "asked",
      messages: size.questionsOfEach,
      pauseMs: chance.whole(0, 200),
      takeOver: index < size.takenOver ? takeOver : null,
    }
  })
  return [...written, ...asked]
}

/** Names a message of the campaign; vendors find their faults by it. */
function tagOf({ kind, messages }: TalkPlan, customer: number, index: number): string {
  const place = `${String(customer).padStart(3, "0")}-${String(index).padStart(2, "0")}`
  return kind === "asked" && index < messages ? `question-${place}` : `note-${place}`
}

/** Makes the first requests with a message fail: as `certain` says, then by chance. */
function planFaults(chance: Chance, faults: Messenger["faults"], about: string, certain: Fault[]): string[] {
  const planned = [...certain]
  while (planned.length < failing.inARow && chance.whole(1, 100) <= failing.percent) planned.push({ fault: chance.pick(faultKinds) })
  for (const each of planned) faults.next({ ...each, about })
  return planned.map(({ fault }) => fault)
}

async function converse(deployment: Deployment, instance: Instance, talk: Talk, plan: TalkPlan) {
  const { messenger, customer } = talk
  const externalId = messenger.meet(customer)
  if (plan.kind === "written") {
    const body = { messenger: messenger.name, fromId: messenger.fromId, externalId }
    talk.chatId = (await insist(instance, deployment.token, "POST", "/api/chats", body, `chat ${customer}`)).id
  }
  for (const index of count(plan.messages)) {
    await sleep(plan.pauseMs)
    const tag = tagOf(plan, customer, index)
    const takenOver = plan.takeOver?.answers === index + 1 ? plan.takeOver : null
    if (takenOver?.around === "a claim") await askAndTakeOver(deployment, instance, talk, tag, takenOver)
    else if (plan.kind === "written") await write(deployment, instance, talk, tag)
    else await ask(instance, talk, tag)
    if (takenOver) {
      if (takenOver.around !== "a claim") await takeOver(deployment, instance, talk, tag, takenOver)
      for (const more of count(afterwards)) await write(deployment, instance, talk, tagOf(plan, customer, plan.messages + more))
      return
    }
    if (plan.kind === "asked") await isAnswered(deployment, talk, tag)
  }
}

/** A person writes. */
async function write(deployment: Deployment, instance: Instance, talk: Talk, text: string) {
  await insist(instance, deployment.token, "POST", "/api/messages", { chatId: talk.chatId, role: "User", text }, text)
  talk.written.push(text)
}

/** The customer asks. */
async function ask(instance: Instance, { messenger, customer }: Talk, tag: string) {
  const body = messenger.update(customer, `Please answer ${tag}`)
  await must("the question is taken", async () => {
    const status = await messenger.post(instance, body)
    if (status !== null && status >= 300 && status !== 503) throw new Error(`The hook answered ${status}`)
    if (status !== null && status < 300) return true
    await sleep(100)
    return false
  })
}

/** Waits until the answer is stored; it is delivered when it can be. */
async function isAnswered(deployment: Deployment, talk: Talk, tag: string) {
  const isStored = async () => {
    await sleep(50)
    const [row] = await deployment.sql("select chat_id from message where role = 'Assistant' and text like '% to ' || $1", [tag])
    talk.chatId = row?.chat_id ?? talk.chatId
    return row !== undefined
  }
  await must(`the answer to ${tag} is stored`, isStored, undefined, () => traceOf(deployment, talk.chatId, tag))
}

/** Turns AI off at the planned moment of the last answer. */
async function takeOver(deployment: Deployment, instance: Instance, talk: Talk, tag: string, plan: TakeOverPlan) {
  const { messenger } = talk
  const { around, held } = plan
  const before = messenger.requests().length
  const isAsked = () =>
    messenger
      .requests()
      .slice(before)
      .some((each) => each.customer === talk.customer && (!held || each.text.endsWith(tag)))
  // The one that is held comes when those before it in its chat are delivered.
  if (held) await must(`the request with the answer to ${tag} is held`, isAsked, heldMs)
  else if (around === "a request") await until(isAsked, 30_000)
  else await isAnswered(deployment, talk, tag)
  await turnOff(deployment, instance, talk, plan)
}

async function turnOff(deployment: Deployment, instance: Instance, talk: Talk, { afterMs, held }: TakeOverPlan) {
  await sleep(afterMs)
  await insist(instance, deployment.token, "PATCH", `/api/chats/${talk.chatId}/ai-control`, { isUnderAiControl: false }, null)
  talk.takenOverAt = talk.messenger.requests().length
  held?.resolve()
}

/** Asks, and turns AI off while the delivery of the answer has begun and waits for the pace of the connection, whose row is locked. */
async function askAndTakeOver(deployment: Deployment, instance: Instance, talk: Talk, tag: string, plan: TakeOverPlan) {
  const { messenger, chatId } = talk
  const has = async (sql: string) => (await deployment.sql(sql, [chatId])).length > 0
  await must(
    `the answers before that to ${tag} are delivered`,
    async () => !(await has("select 1 from message where chat_id = $1 and status = 'queued'")),
    heldMs,
  )
  const begun =
    "select 1 from chat c join message m on m.chat_id = c.id where c.id = $1 and c.delivery_id is not null and m.status = 'queued'"
  const client = await deployment.connection()
  try {
    await client.query("begin")
    await client.query("select 1 from channel where id = $1 for no key update", [messenger.connectionId])
    await ask(instance, talk, tag)
    await must(`the delivery of the answer to ${tag} has begun`, () => has(begun), heldMs)
    await turnOff(deployment, instance, talk, plan)
  } finally {
    await client.end()
  }
}
