import type { Instance } from "../test/kit/campaign/instance.js"
import type { Report } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { EventReceiver } from "./kit/event-receiver.js"
import { allPlaced } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"
import { openChats } from "./resume.js"

/** How many endpoints there are, and how often the server is killed. */
export interface DeliveriesSize {
  endpoints: number
  kills: number
}

/** Messages that are written a second. */
const perSecond = 12
/** How many of them between two kills, at least. */
const betweenKills = 3
const patienceMs = 90_000

/**
 * The server is killed with -9 while it sends events; some first attempts are answered with 500. Whether a receiver has an event is judged
 * by the receiver alone, and compared with what the server has stored.
 */
export async function deliveriesCampaign(deployment: Deployment, report: Report, chance: Chance, size: DeliveriesSize) {
  const plans = count(size.kills).map(() => ({ afterMs: chance.whole(0, 250) }))
  const fates = count(997).map(() => ({ afterMs: chance.whole(5, 250), fails: chance.whole(1, 10) === 1 }))
  const receiver = await EventReceiver.start()
  try {
    const instance = await deployment.start("deliveries")
    const chats = await openChats(deployment, instance, 4)
    const endpoints = new Map<string, string>()
    for (const index of count(size.endpoints)) {
      const name = `endpoint-${index}`
      endpoints.set(await receiver.register(instance.url, deployment.token, name), name)
    }
    const seen = new Set<string>()
    receiver.answering = ({ endpoint, id }) => {
      const { afterMs, fails } = fates[receiver.arrivals.length % fates.length]!
      // Once at most: the pause after a second failure is five minutes.
      const isFirst = !seen.has(`${endpoint} ${id}`)
      seen.add(`${endpoint} ${id}`)
      return { status: fails && isFirst ? 500 : 200, afterMs }
    }
    const state = { isOver: false }
    const texts: string[] = []
    const writing = write(deployment, instance, chats, texts, () => state.isOver)
    let inHands = 0
    for (const { afterMs } of plans) {
      const before = texts.length
      await must("requests are under way", () => texts.length >= before + betweenKills && receiver.inHands > 0)
      await sleep(afterMs)
      inHands += receiver.inHands
      await instance.kill()
      await expireLeases(deployment)
      await instance.start()
    }
    state.isOver = true
    await writing
    await allPlaced(deployment)
    const pending = "select 1 from event_delivery where status = 'pending' limit 1"
    const made = "select 1 from event_fan_out f, event_log l where f.position < l.last_position"
    await until(async () => (await deployment.sql(`${made} union all (${pending})`)).length === 0, patienceMs)
    await instance.stop()
    report.note(
      `${texts.length} messages to ${size.endpoints} endpoints, ${size.kills} kills with ${inHands} requests under way; ${receiver.arrivals.length} requests`,
    )
    await judge(deployment, report, receiver, endpoints, texts)
  } finally {
    receiver.close()
  }
}

/** What 20 seconds without the killed server would do: its leases end. The campaign would take ten minutes otherwise. */
const expireLeases = (deployment: Deployment) =>
  deployment.sql("update event_webhook set sending_lease_until = now() where sending_lease_until is not null")

/** Writes messages until told to stop, each again until it is stored. */
async function write(deployment: Deployment, instance: Instance, chats: string[], texts: string[], isOver: () => boolean) {
  while (!isOver()) {
    const text = `event ${texts.length}`
    const body = { chatId: chats[texts.length % chats.length], role: "User", text }
    for (let isStored = false; !isStored; await sleep(1_000 / perSecond)) {
      const answer = await post(`${instance.url}/api/messages`, deployment.token, body, { key: text }).catch(() => null)
      if (answer && answer.status < 500 && ![201, 409].includes(answer.status))
        throw new Error(`A message was refused with ${answer.status}`)
      isStored = answer?.status === 201
    }
    texts.push(text)
  }
}

async function judge(deployment: Deployment, report: Report, receiver: EventReceiver, endpoints: Map<string, string>, texts: string[]) {
  const answered = receiver.arrivals.filter(({ status }) => status === 200)
  const byText = new Set(answered.map(({ endpoint, text }) => `${endpoint} got "${text}"`))
  const expected = [...endpoints.values()].flatMap((endpoint) => texts.map((text) => `${endpoint} got "${text}"`))
  report.note(`${answered.length} answered with 200, of which ${answered.length - byText.size} were repetitions`)
  report.promise("each event reached each endpoint and was answered with 200", missing(expected, byText))
  const rows = await deployment.sql("select webhook_id, event_id, status from event_delivery")
  const open = rows.filter(({ status }) => status !== "succeeded").map((row) => `${endpoints.get(row.webhook_id)}: ${row.status}`)
  report.promise("each event has one delivery to each endpoint, which succeeded", [
    ...open,
    ...(rows.length === expected.length ? [] : [`${rows.length} deliveries instead of ${expected.length}`]),
  ])
  const byId = new Set(answered.map(({ endpoint, id }) => `${endpoint} got ${id}`))
  const marked = rows.filter(({ status }) => status === "succeeded").map((row) => `${endpoints.get(row.webhook_id)} got ${row.event_id}`)
  report.promise("nothing is marked as delivered that was not answered with 200", missing(marked, byId))
  const ids = new Map<string, Set<string>>()
  for (const { text, id } of receiver.arrivals) ids.set(text, (ids.get(text) ?? new Set()).add(id))
  report.promise(
    "each request with an event has the same id",
    [...ids].filter(([, all]) => all.size > 1).map(([text, all]) => `"${text}" had ${[...all].join(", ")}`),
  )
  report.promise("each request is signed with the secret of its endpoint", receiver.forged)
}

const missing = (expected: string[], actual: Set<string>) => expected.filter((each) => !actual.has(each))
