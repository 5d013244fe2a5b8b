import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { allPlaced, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"
import { openChats } from "./resume.js"

/** The outcome of a message. */
type Outcome = "answered 201" | "left in doubt"

/** Eight clients write to ten chats through two instances, while one after the other is killed and started again. */
export async function writeCampaign(deployment: Deployment, report: Report, chance: Chance, messages: number) {
  const instances = await Promise.all(["a", "b"].map((name) => deployment.start(name)))
  const chats = await openChats(deployment, instances[0]!, 10)
  const outcomes = new Map<string, Outcome>()
  const took: number[] = []
  const plans = count(messages).map((index) => ({
    text: `message ${index}`,
    chatId: chance.pick(chats),
    role: chance.pick(["User", "Customer"]),
    pauseMs: chance.whole(0, 200),
    index,
  }))
  let turn = 0
  const listener = deployment.listen(() => instances[turn++ % 2]!.url, { accessToken: deployment.token })
  const clients = count(8).map(async (client) => {
    for (const { text, chatId, role, pauseMs, index } of plans.filter(({ index }) => index % 8 === client)) {
      await sleep(pauseMs)
      const begin = performance.now()
      outcomes.set(text, await send(deployment, instances, index, { chatId, role, text }))
      took.push(performance.now() - begin)
    }
  })
  const kills = [chance.whole(messages / 10, messages / 4), chance.whole(messages / 2, (messages * 3) / 4)]
  for (const [index, at] of kills.entries()) {
    await must(`${at} messages are through`, () => outcomes.size >= at)
    await instances[index]!.kill()
    await instances[index]!.start()
  }
  await Promise.all(clients)
  await allPlaced(deployment)
  const stored = await storedIn(deployment, chats)
  await until(() => listener.heard.filter(({ message }) => message).length >= stored.length, 30_000)

  report.note(
    `${messages} messages by 8 clients to 10 chats, instance a killed after ${kills[0]}, b after ${kills[1]}: ${tally([...outcomes.values()])}`,
  )
  report.note(`${stored.length} stored; longest POST ${worst(took)}`)
  const times = (text: string) => stored.filter((message) => message.text === text).length
  const answered = [...outcomes].filter(([, outcome]) => outcome === "answered 201").map(([text]) => text)
  const twice = [...outcomes.keys()].filter((text) => times(text) > 1)
  report.promise(
    "every message that was answered 201 is stored exactly once",
    answered.filter((text) => times(text) !== 1).map((text) => `${text}: ${times(text)} times`),
  )
  report.promise("no message is stored twice", twice)
  await report.reached("messages that were answered", answered.length, messages * 0.8)
  report.promise("messages are numbered without gaps", gaps(stored))
  report.promise("every message has exactly one event", notToldOnce(stored))
  report.promise("a subscriber heard each event once and in order", misheard("subscriber", listener, stored))
}

/** Posts once; only what surely never arrived, since nobody listened, goes to the other instance. */
async function send(deployment: Deployment, instances: Instance[], index: number, body: object): Promise<Outcome> {
  for (let turn = index; ; turn += 1) {
    try {
      const { status } = await post(`${instances[turn % 2]!.url}/api/messages`, deployment.token, body)
      if (status === 503) return "left in doubt"
      if (status !== 201) throw new Error(`A message was refused with ${status}`)
      return "answered 201"
    } catch (error) {
      const cause = (error as { cause?: { code?: string } }).cause
      if (!cause) throw error
      if (cause.code !== "ECONNREFUSED") return "left in doubt"
      await sleep(5)
    }
  }
}
