import { createChats, questionOf } from "./chats.js"
import type { Deployment } from "./deployment.js"
import { newVisitorWidgetsOf } from "./fixtures.js"
import { type HookMessenger, type HookRequest, sendable } from "./hook-request.js"
import type { HookLoad, HookResult } from "./load.js"
import { cpuWatch, type Row, type TurnMeasurement } from "./measurement.js"
import type { TurnOptions } from "./options.js"
import { interleaved, until } from "./rounds.js"
import { isCounted, type Side, tidy } from "./sides.js"
import { question } from "./words.js"

const visitors = 2_000

/** Replies become due in an hour: no turn runs while messages are measured. */
const environment = { REPLY_DEBOUNCE_MS: "3600000", REPLY_MAX_WAIT_MS: "3600000" }

const variants = ["T1 AI off", "T1 AI on", "T1 new", "T1 bridge", "T1 Telegram"] as const satisfies Row[]
type Variant = (typeof variants)[number]

/** The variants whose customers write over another channel than the widget. */
const channels: Partial<Record<Variant, HookMessenger>> = { "T1 bridge": "custom-messenger", "T1 Telegram": "telegram-bot" }

/** The statements of a message, by contestant and variant: the most of some requests, without the sequencer's. */
export type InboundStatements = Record<string, number>

/** T1: customers' messages through the hooks of the widget, the bridge and Telegram. */
export async function measureInbound(
  deployment: Deployment,
  { rounds, seconds, warmUpSeconds, connections, atMost }: TurnOptions,
): Promise<TurnMeasurement[]> {
  await using stack = new AsyncDisposableStack()
  const sides = await deployment.start(stack, deployment.contestants, environment)
  const found: TurnMeasurement[] = []
  for (const variant of variants) {
    const requests = new Map<Side, HookRequest[]>()
    for (const side of sides) requests.set(side, await requestsOf(deployment, side, variant))
    const write = async (side: Side, forSeconds: number) => {
      const order: HookLoad = { url: side.url, seconds: forSeconds, connections, atMost, requests: requests.get(side)! }
      const before = await stored(side)
      const cpu = cpuWatch(deployment, side)
      const result = await deployment.load.ask<HookResult>(order)
      const used = cpu(result.good)
      await mustBeStored(side, variant, before, result)
      return { result, used }
    }
    // Code that never ran is slow at first, and after a pause connections are made again.
    await interleaved(sides, 1, async (side) => void (await write(side, warmUpSeconds)))
    await interleaved(sides, rounds, async (side, round) => {
      await tidy(side)
      await write(side, 1)
      const { result, used } = await write(side, seconds)
      const { good, p50, p99 } = result
      const perSecond = good / result.seconds
      found.push({ workload: variant, contestant: side.contestant, perSecond, p50, p99, failed: 0, ...used })
      const who = `${variant} round ${round + 1} ${side.contestant.padEnd(9)}`
      deployment.say(`${who} ${perSecond.toFixed(0)} messages/s, ${used.serverCpu.toFixed(3)} ms CPU, p99 ${p99} ms`)
    })
  }
  return found
}

/** Messages of known visitors, whose chats an assistant answers or nobody, or first messages. */
async function requestsOf(deployment: Deployment, side: Side, variant: Variant): Promise<HookRequest[]> {
  if (variant === "T1 new")
    return (await newVisitorWidgetsOf(side.client)).map((id) => ({
      path: `/hooks/widget/${id}`,
      text: question("new"),
      visitorToken: null,
      customer: null,
    }))
  const answeredBy = variant === "T1 AI on" ? "assistant" : null
  const chats = await createChats(side, { count: visitors, answeredBy, dueAt: null, over: channels[variant] ?? "widget" })
  return chats.map((chat) => questionOf(deployment, chat))
}

let messages = 0

/** Counts the statements of a message of each variant, in processes of their own. */
export async function countInbound(deployment: Deployment): Promise<InboundStatements> {
  await using stack = new AsyncDisposableStack()
  const counts: InboundStatements = {}
  for (const side of await deployment.start(stack, deployment.contestants.filter(isCounted), environment, true)) {
    for (const variant of variants) {
      const requests = await requestsOf(deployment, side, variant)
      let most = 0
      for (let number = 0; number < 20; number++) {
        const { path, headers: own, ...message } = sendable(requests[number % requests.length]!, ++messages)
        const statements = await side.counted(async (headers) => {
          const response = await fetch(`${side.url}${path}`, { ...message, headers: { ...own, ...headers } })
          if (!response.ok) throw new Error(`${variant} of ${side.contestant} answered ${response.status}`)
        })
        // Connections and plans are new at first.
        if (number >= 10) most = Math.max(most, statements)
      }
      if (most === 0) throw new Error(`The statements of ${variant} of ${side.contestant} were not counted`)
      counts[`${variant} ${side.contestant}`] = most
    }
  }
  return counts
}

interface StoredCounts {
  messages: number
  numbered: number
  events: number
  chats: number
  due: number
  /** Chats that an assistant has to answer, with no due time. */
  forgotten: number
}

/** Of the companies that customers write to: a filled database has millions of messages of others, so that messages are found by their chats. */
async function stored({ client, companies }: Side): Promise<StoredCounts> {
  const { rows } = await client.query(
    `with written as materialized (select * from chat where company_id = any($1::uuid[]))
     select
       (select coalesce(sum(own), 0)::int from written
         cross join lateral (select count(*) as own from message where chat_id = written.id offset 0) each_chat) as messages,
       (select coalesce(sum(last_sequence), 0)::int from written) as numbered,
       (select count(*)::int from event where type = 'MESSAGE_CREATED') as events, (select count(*)::int from written) as chats,
       (select count(*)::int from written where reply_due_at is not null) as due,
       (select count(*)::int from written
         cross join lateral (select role from message where id = last_message_id offset 0) last
         where is_under_ai_control and last.role = 'Customer' and reply_due_at is null) as forgotten`,
    [companies.map(({ id }) => id)],
  )
  return rows[0]
}

/** Throws unless every confirmed message is stored once, with its number, its event, its chat and its due time. */
async function mustBeStored(side: Side, variant: Variant, before: StoredCounts, { good, bad }: HookResult) {
  const who = `${variant} of ${side.contestant}`
  if (bad > 0 || good === 0) throw new Error(`${who}: ${bad} of ${good + bad} requests failed`)
  const { messages, numbered, events, chats, due, forgotten } = await stored(side)
  const added = messages - before.messages
  if (added !== good) throw new Error(`${who}: ${good} confirmed, ${added} stored`)
  if (numbered - before.numbered !== added) throw new Error(`${who}: ${added} messages, and ${numbered - before.numbered} numbers`)
  if (events - before.events !== added) throw new Error(`${who}: ${added} messages, and ${events - before.events} events`)
  if (variant === "T1 new" && (chats - before.chats !== added || due - before.due !== added))
    throw new Error(`${who}: ${added} first messages, ${chats - before.chats} chats, ${due - before.due} due replies`)
  if (forgotten > 0 || (variant !== "T1 AI on" && variant !== "T1 new" && due !== before.due))
    throw new Error(`${who}: ${due} replies are due, ${forgotten} are missing`)
  // The reference has no sequencer, and what is left without a position would slow down nothing but itself.
  if (side.contestant === "reference") return void (await side.client.query("delete from event where position is null"))
  await until(
    "all events have positions",
    10,
    async () => (await side.client.query("select 1 from event where position is null limit 1")).rowCount === 0,
  )
}
