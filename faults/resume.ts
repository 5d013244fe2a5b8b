import type { Instance } from "../test/kit/campaign/instance.js"
import { longest, type Report } from "../test/kit/campaign/report.js"
import { sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import type { Listener } from "./kit/listener.js"
import { allPlaced, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, insist, post } from "./kit/test-bed.js"

/** How much a resume campaign writes and cuts. */
export interface ResumeSize {
  messages: number
  cuts: number
}

/** Subscribers are cut again and again, and come back to the other instance, while many write to many chats. */
export async function resumeCampaign(deployment: Deployment, report: Report, chance: Chance, size: ResumeSize) {
  const instances = await Promise.all(["a", "b"].map((name) => deployment.start(name)))
  const chats = await openChats(deployment, instances[0]!, 8)
  const plans = count(size.messages).map((index) => ({ chatId: chance.pick(chats), role: chance.pick(["User", "Customer"]), index }))
  // The first tenth and the last fifth are left whole, so that every cut comes while messages are written: writers are a tenth ahead at most.
  const moments = () =>
    count(size.cuts)
      .map(() => chance.whole(size.messages / 10, (size.messages * 8) / 10))
      .sort((one, other) => one - other)
  let written = 0
  const subscribers = [moments(), moments()].map((cuts, index) => subscriber(deployment, instances, cuts, index, () => written))
  const writers = count(6).map(async (writer) => {
    for (const { chatId, role, index } of plans.filter(({ index }) => index % 6 === writer)) {
      const body = { chatId, role, text: `message ${index}` }
      await insist(instances[index % 2]!, deployment.token, "POST", "/api/messages", body, `message ${index}`)
      written += 1
      // Nobody is to be cut when all is over: writers wait for subscribers that are far behind.
      await until(() => subscribers.every(({ messages }) => messages() > written - size.messages / 10), 10_000)
    }
  })
  await Promise.all(writers)
  await allPlaced(deployment)
  const stored = await storedIn(deployment, chats)
  await until(() => subscribers.every(({ messages }) => messages() >= stored.length), 30_000)
  // Whatever is told twice is told by now: a last message comes after it.
  await sleep(100)
  const made = subscribers.map(({ listener }) => listener.cuts)
  report.note(
    `${stored.length} messages in ${chats.length} chats by ${writers.length} writers on 2 instances; subscribers cut ${made.join(" and ")} times`,
  )
  report.note(`last cut after ${Math.max(...subscribers.map(({ lastCutAt }) => lastCutAt()))} of ${size.messages} messages were written`)
  report.promise("every message that was written is stored", stored.length === size.messages ? [] : [`${stored.length} are`])
  report.promise(
    "each subscriber heard each event once and in order",
    subscribers.flatMap(({ listener }, index) => misheard(`subscriber ${index + 1}`, listener, stored)),
  )
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
  const cutsMeanwhile = subscribers.reduce((sum, { cutsBefore }) => sum + cutsBefore(size.messages), 0)
  await report.reached("cuts while messages were written", cutsMeanwhile, size.cuts * subscribers.length)
}

/** A subscriber of the whole company that cuts itself when it has heard so and so many messages. */
function subscriber(deployment: Deployment, instances: Instance[], cuts: number[], first: number, written: () => number) {
  let turn = first
  const cutAt: number[] = []
  const messages = (): number => listener.heard.filter(({ type }) => type === "MESSAGE_CREATED").length
  const listener: Listener = deployment.listen(
    () => instances[turn++ % instances.length]!.url,
    { accessToken: deployment.token },
    () => {
      if (cuts[0] === undefined || messages() < cuts[0]) return
      cuts.shift()
      cutAt.push(written())
      listener.cut()
    },
  )
  return { listener, messages, cutsBefore: (count: number) => cutAt.filter((each) => each < count).length, lastCutAt: () => longest(cutAt) }
}

/** Opens chats without an assistant. */
export async function openChats(deployment: Deployment, { url }: Instance, chats: number): Promise<string[]> {
  const ids: string[] = []
  for (const index of count(chats)) {
    const body = { messenger: "playground", fromId: "campaign", externalId: `customer-${index}` }
    ids.push((await post(`${url}/api/chats`, deployment.token, body)).body.id)
  }
  return ids
}
