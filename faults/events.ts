import { setTimeout as sleep } from "node:timers/promises"
import type { Instance } from "../test/kit/campaign/instance.js"
import type { Report } from "../test/kit/campaign/report.js"
import { must, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { killAt, killsBy } from "./kit/kills.js"
import { Redis } from "./kit/redis.js"
import { SocketIoListener } from "./kit/socket-io-listener.js"
import { allPlaced, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"
import { openChats } from "./resume.js"

/** How much an events campaign writes, cuts and kills. */
export interface EventsSize {
  messages: number
  subscribers: number
  /** In all. */
  cuts: number
  kills: number
  /** How long the Redis by which the instances wake each other is stopped in the middle; null without Redis. */
  redisStoppedMs: number | null
}

const writers = 6

/**
 * Subscribers of graphql-ws and of Socket.IO are cut again and again, and one of two instances is killed with -9 and started again, while many
 * write to many chats through both.
 */
export async function eventsCampaign(deployment: Deployment, report: Report, chance: Chance, size: EventsSize) {
  await using stack = new AsyncDisposableStack()
  const redis = size.redisStoppedMs === null ? null : await Redis.start()
  stack.defer(() => redis?.kill())
  const environment: Record<string, string> = redis ? { REDIS_URL: redis.url } : {}
  const instances = await Promise.all(["a", "b"].map((name) => deployment.start(name, environment)))
  const chats = await openChats(deployment, instances[0]!, 8)
  let written = 0
  const subscribers = count(size.subscribers).map((index) => {
    const cuts = killsBy(chance, Math.round(size.cuts / size.subscribers), size.messages)
    return subscriber(deployment, instances, cuts, index)
  })
  stack.defer(() => {
    for (const { listener } of subscribers) listener.close()
  })
  const behind = () => Math.max(...subscribers.map(({ messages }) => written - messages()))
  const write = async (writer: number) => {
    for (const index of count(size.messages).filter((each) => each % writers === writer)) {
      const chatId = chats[index % chats.length]!
      await writeOnce(deployment, instances, index, { chatId, role: index % 3 ? "User" : "Customer", text: `message ${index}` })
      written += 1
      // Writers wait for subscribers that are far behind, so that cuts come while messages are written.
      await until(() => behind() < size.messages / 10, 30_000)
    }
  }
  const killing = killAt(instances[1]!, killsBy(chance, size.kills, size.messages), () => written)
  const outage = redis && stopped(redis, size.redisStoppedMs!, () => written > size.messages / 3)
  await Promise.all([killing, outage, ...count(writers).map(write)])
  await allPlaced(deployment)
  const stored = await storedIn(deployment, chats)
  await until(() => subscribers.every(({ messages }) => messages() >= stored.length), 60_000)
  // Whatever is told twice is told by now: a last message comes after it.
  await sleep(100)
  const cuts = subscribers.map(({ listener }) => listener.cuts)
  report.note(`${stored.length} messages in ${chats.length} chats through 2 instances, one killed ${size.kills} times`)
  report.note(`${subscribers.length} subscribers, every second one over Socket.IO, cut ${cuts.join(", ")} times`)
  report.promise("every message that was written is stored once", stored.length === size.messages ? [] : [`${stored.length} are`])
  report.promise(
    "each subscriber heard each event once, and all in the same order",
    subscribers.flatMap(({ listener }, index) => misheard(`subscriber ${index + 1}`, listener, stored)),
  )
  report.promise("messages are numbered without gaps, with one event each, in the order of the chat", [
    ...gaps(stored),
    ...notToldOnce(stored),
    ...disordered(stored),
  ])
  const made = cuts.reduce((sum, each) => sum + each, 0)
  await report.reached("cuts of subscribers while messages were written", made, size.cuts)
}

/** Messages of a chat whose events do not stand in the order in which they were committed. */
function disordered(stored: { chatId: string; text: string; positions: (string | null)[] }[]): string[] {
  const last = new Map<string, bigint>()
  return stored.flatMap(({ chatId, text, positions }) => {
    const position = BigInt(positions[0] ?? 0)
    const before = last.get(chatId) ?? 0n
    last.set(chatId, position)
    return position > before ? [] : [`"${text}" stands before an earlier message of its chat`]
  })
}

/** Writes a message once, through whichever instance answers: the key makes a repeated request safe. */
async function writeOnce(deployment: Deployment, instances: Instance[], index: number, body: object) {
  for (let attempt = 0; ; attempt++) {
    const { url } = instances[(index + attempt) % instances.length]!
    const answer = await post(`${url}/api/messages`, deployment.token, body, { key: `write-${index}` }).catch(() => null)
    if (answer?.status === 201) return
    if (answer && answer.status < 500 && answer.status !== 409) throw new Error(`A message was refused with ${answer.status}`)
    await sleep(20)
  }
}

/** Stops Redis for some time in the middle. */
async function stopped(redis: Redis, milliseconds: number, isMiddle: () => boolean) {
  await must("a third is written", isMiddle, 180_000)
  await redis.kill()
  await sleep(milliseconds)
  await redis.start()
}

/** A subscriber of the whole company that cuts itself when it has heard so and so many messages. */
function subscriber(deployment: Deployment, instances: Instance[], cuts: number[], index: number) {
  let turn = index
  const next = () => instances[turn++ % instances.length]!.url
  const messages = (): number => listener.heard.filter(({ type }) => type === "MESSAGE_CREATED").length
  const hear = () => {
    if (cuts[0] === undefined || messages() < cuts[0]) return
    cuts.shift()
    listener.cut()
  }
  const listener =
    index % 2 === 0
      ? deployment.listen(next, { accessToken: deployment.token }, hear)
      : new SocketIoListener(next, deployment.token, deployment.origin, hear)
  return { listener, messages }
}
