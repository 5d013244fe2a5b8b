import { type Report, tally } from "../../test/kit/campaign/report.js"
import type { Talk } from "../outbound.js"
import type { Outgoing } from "./messengers.js"
import { gaps, notToldOnce, storedIn } from "./store.js"
import type { Deployment } from "./test-bed.js"

/** A message from the company's side, as it is stored. */
interface Row {
  id: string
  text: string
  role: "User" | "Assistant"
  status: string
  delivery_error: string | null
  /** Whether the take-over found that its request had left. */
  is_withdrawn: boolean
  /** Seconds until the messenger took it at the first attempt; null for others. */
  latency: number | null
}

export const marked = "over Telegram what arrived twice is marked"
export const nothingAfterwards = "after a take-over was answered no AI message arrives that was not on its way"

/** What contradicts each check. */
const noFaults = () => ({
  lost: [] as string[],
  bridge: [] as string[],
  marks: [] as string[],
  order: [] as string[],
  late: [] as string[],
})

/** Compares what is stored in all chats with what has reached the customers. */
export async function judgeDeliveries(deployment: Deployment, report: Report, talks: Talk[], total: number) {
  const chatIds = talks.map(({ chatId }) => chatId)
  const rows = await outgoingOf(deployment, chatIds)
  const faults = noFaults()
  const counts = { stored: 0, twice: 0, marked: 0, withdrawn: 0, late: 0 }
  for (const talk of talks) {
    const mine = rows.get(talk.chatId) ?? []
    const { messenger, customer } = talk
    const arrivals = messenger.arrivals.filter((each) => each.customer === customer)
    counts.stored += mine.length
    faults.lost.push(...lostOf(talk, mine, arrivals))
    faults.order.push(...orderOf(talk, mine, arrivals))
    const requests = messenger.requests().filter((each) => each.customer === customer)
    if (messenger.isIdempotent) faults.bridge.push(...bridgeFaults(mine, arrivals, requests))
    else {
      const twice = mine.filter(({ text }) => timesOf(arrivals, text) > 1)
      counts.twice += twice.length
      counts.marked += mine.filter(isMarked).length
      faults.marks.push(...twice.filter((row) => !isMarked(row) && row.status === "sent").map(({ text }) => `${text}: not marked`))
    }
    if (talk.takenOverAt === null) continue
    const late = messenger
      .requests()
      .slice(talk.takenOverAt)
      .filter((each) => each.customer === customer && mine.some(({ text, role }) => text === each.text && role === "Assistant"))
    counts.withdrawn += mine.filter(({ is_withdrawn }) => is_withdrawn).length
    counts.late += late.length
    // A request that had left may still be on its way, once.
    for (const text of new Set(late.map((each) => each.text)))
      if (!mine.some((row) => row.text === text && row.is_withdrawn) || timesOf(late, text) > 1)
        faults.late.push(`${text}: ${timesOf(late, text)} requests afterwards`)
  }
  const all = [...rows.values()].flat()
  const [takenOver, statuses] = [
    talks.filter(({ takenOverAt }) => takenOverAt !== null).length,
    tally(all.map(({ role, status }) => `${role} ${status}`)),
  ]
  report.note(`${counts.stored} messages in ${talks.length} chats: ${statuses}`)
  const latencies = all.flatMap(({ latency }) => latency ?? []).toSorted((one, other) => one - other)
  const share = (part: number) => `${(latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(1)} s`
  report.note(`taken at the first attempt after ${share(0.5)} (median), ${share(0.95)} (95 %), behind earlier messages of the chat too`)
  report.note(`Telegram: ${counts.twice} arrived twice or more, ${counts.marked} are marked`)
  report.note(`${takenOver} take-overs: ${counts.withdrawn} answers were on their way, ${counts.late} requests with one came afterwards`)
  await report.reached("messages that were stored", counts.stored, total * 0.9)
  report.promise("no message is lost: each is sent and has arrived, or was an answer that a take-over cancelled", faults.lost)
  report.promise("over the bridge each message arrives exactly once, under one ID", faults.bridge)
  report.promise(marked, faults.marks)
  await report.reached("messages that arrived twice", counts.twice, 1)
  report.promise("the first arrivals of a chat are in the order of its messages", faults.order)
  report.promise(nothingAfterwards, faults.late)
  await report.reached("take-overs while an answer was on its way", counts.withdrawn, 1)
  const stored = await storedIn(deployment, chatIds)
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}

async function outgoingOf(deployment: Deployment, chatIds: string[]): Promise<Map<string, Row[]>> {
  const rows: (Row & { chat_id: string })[] = await deployment.sql(
    `select m.id, m.chat_id, m.text, m.role, m.status, m.delivery_error, coalesce(s.is_withdrawn, false) as is_withdrawn,
       case when s.failures = 0 and not s.may_be_twice then extract(epoch from m.sent_at - m.created_at)::float8 end as latency
     from message m left join channel_message s on s.message_id = m.id
     where m.chat_id = any($1::uuid[]) and m.role <> 'Customer' order by m.chat_id, m.sequence`,
    [chatIds],
  )
  return new Map(chatIds.map((chatId) => [chatId, rows.filter((row) => row.chat_id === chatId)]))
}

const timesOf = (list: Outgoing[], text: string) => list.filter((each) => each.text === text).length

const isMarked = ({ delivery_error: words }: Row) => words?.includes("twice") ?? false

function lostOf({ written }: Talk, mine: Row[], arrivals: Outgoing[]): string[] {
  const faults = written
    .filter((text) => mine.filter((row) => row.text === text).length !== 1)
    .map((text) => `${text}: written, and not stored once`)
  for (const { text, role, status } of mine) {
    const isCancelled = role === "Assistant" && status === "cancelled"
    if (status !== "sent" && !isCancelled) faults.push(`${text}: ${status}`)
    if (status === "sent" && timesOf(arrivals, text) === 0) faults.push(`${text}: sent, and never arrived`)
  }
  return faults
}

function orderOf({ customer }: Talk, mine: Row[], arrivals: Outgoing[]): string[] {
  const first = [...new Set(arrivals.map(({ text }) => text))]
  const expected = mine.map(({ text }) => text).filter((text) => first.includes(text))
  return first.join() === expected.join() ? [] : [`customer ${customer}: ${first.join(", ")}`]
}

/** The connector recognizes a repeated message by its ID: there is one for each message, and no other. */
function bridgeFaults(mine: Row[], arrivals: Outgoing[], requests: Outgoing[]): string[] {
  return mine.flatMap(({ id, text, delivery_error: words }) => {
    const ids = new Set(requests.filter((each) => each.text === text).map(({ messageId }) => messageId))
    const faults: string[] = []
    if (timesOf(arrivals, text) > 1) faults.push(`${text}: arrived ${timesOf(arrivals, text)} times`)
    if ([...ids].some((each) => each !== id)) faults.push(`${text}: sent as ${[...ids].join(", ")}`)
    if (words !== null) faults.push(`${text}: ${words}`)
    return faults
  })
}
