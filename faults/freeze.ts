import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, worst } from "../test/kit/campaign/report.js"
import { must, onThisMachine, sleep } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { Customer } from "./kit/customer.js"
import { comeToRest, misheard, storedIn } from "./kit/store.js"
import type { Deployment } from "./kit/test-bed.js"

/** The model thinks until everybody has reached it; a server gives up a model that thinks for a minute. */
const longestThoughtMs = 20_000

/** A worker is paused for longer than its lease, another answers, and the first continues. */
export async function freezeCampaign(deployment: Deployment, report: Report, chance: Chance, chats: number) {
  const instances = await Promise.all(["a", "b"].map((name) => deployment.start(`freeze-${name}`)))
  const customers = count(chats).map((index) => new Customer(deployment, `question-freeze-${index}`, instances))
  for (const [index, customer] of customers.entries()) {
    deployment.model.thinks(customer.tag, Math.min(longestThoughtMs, onThisMachine(chance.whole(3_000, 4_000))))
    await customer.ask(instances[index % 2]!)
  }
  const calls = customers.map(({ tag }) => deployment.model.callsFor(tag))
  await must("everybody reaches the model", () => calls.every(({ length }) => length > 0))
  // The instance that runs more turns now.
  const inHands = (name: string) => calls.filter(([call]) => call!.by === name && !call!.answeredAt).length
  const [frozen] = instances.toSorted((one, other) => inHands(other.name) - inHands(one.name)) as [Instance, Instance]
  const hit = inHands(frozen.name)
  const begin = performance.now()
  frozen.freeze(true)
  const stored = () =>
    storedIn(
      deployment,
      customers.map(({ chatId }) => chatId),
    )
  const answers = async () => (await stored()).filter(({ role }) => role === "Assistant")
  const all = async () => {
    await sleep(100)
    return (await answers()).length >= chats
  }
  await must("the other instance answers", all).finally(() => frozen.freeze(false))
  const frozenMs = performance.now() - begin
  await must("everybody hears the answer", () => customers.every((customer) => customer.answers.length > 0))
  await comeToRest(deployment, instances)
  const messages = await stored()
  report.note(
    `one instance of two stood still for ${worst([frozenMs])} with ${hit} of ${chats} turns in its hands; ${calls.flat().length} calls of the model`,
  )
  const counts = customers.map(({ tag, chatId }) => ({
    tag,
    times: messages.filter((each) => each.chatId === chatId && each.role === "Assistant").length,
  }))
  report.promise(
    "each question has exactly one answer",
    counts.flatMap(({ tag, times }) => (times === 1 ? [] : [`${tag}: ${times}`])),
  )
  report.promise(
    "each customer heard what is stored",
    customers.flatMap(({ tag, chatId, listener }) =>
      misheard(
        tag,
        listener,
        messages.filter((each) => each.chatId === chatId),
      ),
    ),
  )
  await report.reached("running turns that were taken over", Math.min(hit, calls.flat().length - chats), 1)
}
