import { setTimeout as sleep } from "node:timers/promises"
import { type BenchChat, createChats } from "./chats.js"
import type { Deployment } from "./deployment.js"
import { cpuWatch, type TurnMeasurement } from "./measurement.js"
import type { TurnOptions } from "./options.js"
import { interleaved, until } from "./rounds.js"
import { isCounted, type Side, tidy } from "./sides.js"
import type { Seen } from "./stand-ins.js"

/** Deliveries before any is measured: connections and plans are new at first. */
const warmUp = 500
const counted = 300
const least = 300
const most = 12_000

/**
 * Deliveries through the queue, over the bridge. A batch of chats with one queued message each is stored with SQL, all due at one time that is
 * still ahead; a batch is as large as the contestant delivers in the seconds of a round.
 */
export async function measureDeliveries(deployment: Deployment, { rounds, seconds }: TurnOptions): Promise<TurnMeasurement[]> {
  await using stack = new AsyncDisposableStack()
  const sides = await deployment.start(stack, deployment.contestants, {})
  const found: TurnMeasurement[] = []
  const counts = new Map<Side, number>()
  await interleaved(sides, 1, async (side) => {
    const { perSecond } = await runBatch(deployment, side, warmUp)
    counts.set(side, Math.round(Math.min(most, Math.max(least, perSecond * seconds))))
  })
  await interleaved(sides, rounds, async (side, round) => {
    await tidy(side)
    const figures = await runBatch(deployment, side, counts.get(side)!)
    found.push({ workload: "T1 out", contestant: side.contestant, p50: Number.NaN, p99: Number.NaN, failed: 0, ...figures })
    const used = `${figures.serverCpu.toFixed(2)} ms CPU, ${figures.databaseCpu.toFixed(2)} ms in PostgreSQL`
    deployment.say(`T1 out round ${round + 1} ${side.contestant.padEnd(9)} ${figures.perSecond.toFixed(0)} deliveries/s, ${used}`)
  })
  return found
}

/** Has a side deliver a message in so many chats, and proves that it did. */
async function runBatch(deployment: Deployment, side: Side, count: number) {
  const { standIns } = deployment
  await standIns.ask({ reset: { thinkMs: 0 } })
  const deliverAt = new Date(Date.now() + 1_000 + count / 2)
  const chats = await createChats(side, { count, answeredBy: null, dueAt: null, over: "custom-messenger", deliverAt })
  const ahead = deliverAt.getTime() - Date.now()
  if (ahead < 200) throw new Error(`Storing ${count} queued messages took longer than planned`)
  await sleep(ahead - 100)
  const cpu = cpuWatch(deployment, side)
  await until(`${side.contestant} delivers ${count} messages`, 300, async () => {
    const { delivered } = await standIns.ask<{ delivered: number }>("delivered")
    return delivered >= count
  })
  await until(`${side.contestant} records all deliveries`, 60, async () => {
    const { rowCount } = await side.client.query("select 1 from message where status = 'queued' limit 1")
    return rowCount === 0
  })
  const used = cpu(count)
  const seen = await standIns.ask<Seen>("seen")
  const end = await proveDelivered(side, chats, seen)
  return { perSecond: (count * 1_000) / (end - seen.firstDeliveryAt), ...used }
}

/** Throws unless every chat's message was sent once, with its event and its ID on the channel; returns when the last one was recorded. */
async function proveDelivered({ client, contestant }: Side, chats: BenchChat[], { delivered }: Seen): Promise<number> {
  const wrong = (what: string) => new Error(`Of ${chats.length} deliveries of ${contestant} ${what}`)
  if (delivered !== chats.length) throw wrong(`the connector got ${delivered}`)
  const { rows } = await client.query(proof, [chats.map(({ id }) => id)])
  const { sent, told, idle, last } = rows[0]
  if (sent !== chats.length) throw wrong(`${sent} are recorded`)
  if (told !== chats.length) throw wrong(`${told} have an event`)
  if (idle !== chats.length) throw wrong(`${idle} left their chat idle`)
  return last
}

const proof = `
  select
    (select count(*)::int from message where chat_id = any($1::uuid[]) and role = 'User' and status = 'sent'
      and external_id = 'connector-' || id) as sent,
    (select (extract(epoch from max(sent_at)) * 1000)::float8 from message where chat_id = any($1::uuid[]) and role = 'User') as last,
    (select count(*)::int from event where chat_id = any($1::uuid[]) and type = 'MESSAGE_UPDATED') as told,
    (select count(*)::int from chat where id = any($1::uuid[]) and delivery_due_at is null and delivery_id is null) as idle`

/** Counts the statements of a delivery in processes of their own: all that are sent while a batch is delivered, with the sequencer's and the sweeps'. */
export async function countDeliveries(deployment: Deployment): Promise<Record<string, number>> {
  await using stack = new AsyncDisposableStack()
  const counts: Record<string, number> = {}
  for (const side of await deployment.start(stack, deployment.contestants.filter(isCounted), {}, true)) {
    await runBatch(deployment, side, counted)
    const before = await side.statements()
    await runBatch(deployment, side, counted)
    counts[`T1 out ${side.contestant}`] = ((await side.statements()) - before) / counted
  }
  return counts
}
