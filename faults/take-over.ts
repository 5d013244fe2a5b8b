import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { Customer } from "./kit/customer.js"
import { gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"

/** A take-over that is planned: at any moment of the turn, while the model thinks, or just around the moment of its answer. */
interface Plan {
  startMs: number
  thinksMs: number
  /** After the question was taken, or, when it is about the model, after the model was asked. */
  afterMs: number
  around: "anywhere" | "thinking" | "answer"
}

/** The outcome. */
interface TakenOver {
  customer: Customer
  plan: Plan
  moment: "before the turn" | "while the model thought" | "after the model's answer"
  /** Answers that were in the store when the take-over had answered. */
  before: string[]
  answeredAt: number
  tookMs: number
}

export const nothingAfter = "no AI message is stored after the take-over answered"

/** Persons take chats over, on the other instance than the customer's, while a slow model answers. */
export async function takeOverCampaign(deployment: Deployment, report: Report, chance: Chance, chats: number) {
  const instances = await Promise.all(["a", "b"].map((name) => deployment.start(name)))
  const plans = count(chats).map((index): Plan => {
    const around = (["anywhere", "thinking", "answer"] as const)[index % 3]!
    const thinksMs = chance.whole(around === "thinking" ? 500 : 0, 2_000)
    const afterMs = {
      anywhere: chance.whole(0, 2_500),
      thinking: chance.whole(0, thinksMs - 100),
      answer: Math.max(0, thinksMs + chance.whole(-25, 25)),
    }[around]
    return { startMs: index * chance.whole(60, 120), thinksMs, afterMs, around }
  })
  const all = await Promise.all(plans.map((plan, index) => takeOver(deployment, instances, plan, index)))
  await must("the model has answered everybody", () => deployment.model.isQuiet)
  await witness(deployment, instances)
  await Promise.all(instances.map((instance) => instance.stop()))

  report.note(`${chats} chats taken over on the other instance: ${tally(all.map(({ moment }) => moment))}`)
  report.note(
    `${all.filter(({ before }) => before.length > 0).length} were answered before; longest take-over ${worst(all.map((each) => each.tookMs))}`,
  )
  const stored = await storedIn(
    deployment,
    all.map(({ customer }) => customer.chatId),
  )
  const late = await storedLate(deployment)
  const faults = { after: [] as string[], told: [] as string[], heard: [] as string[] }
  for (const { customer, before, answeredAt } of all) {
    const mine = stored.filter(({ chatId }) => chatId === customer.chatId)
    const answers = mine.filter(({ role }) => role === "Assistant")
    const unexpected = answers.filter(({ id }) => !before.includes(id))
    faults.after.push(...unexpected.map(({ text }) => `${text}: stored after the take-over answered`))
    faults.after.push(...answers.filter(({ id }) => late.has(id)).map(({ text }) => `${text}: stored behind the take-over in the log`))
    const heardLate = customer.answers.filter(({ at, message }) => at > answeredAt && !before.includes(message!.id))
    faults.told.push(...heardLate.map(({ message }) => `${message!.text}: arrived after the take-over answered, and was not stored before`))
    faults.heard.push(...misheard(customer.tag, customer.listener, mine))
  }
  report.promise(nothingAfter, faults.after)
  report.promise("no AI message reaches the customer that was not stored before the take-over answered", faults.told)
  report.promise("each customer heard what is stored, each once and in order", faults.heard)
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
  const during = all.filter(({ moment }) => moment === "while the model thought").length
  await report.reached("take-overs while the model thought", during, chats / 5)
}

async function takeOver(deployment: Deployment, instances: Instance[], plan: Plan, index: number): Promise<TakenOver> {
  const customer = new Customer(deployment, `question-${index}`, instances)
  const { model, token } = deployment
  model.thinks(customer.tag, plan.thinksMs)
  await sleep(plan.startMs)
  await customer.ask(instances[index % 2]!)
  const calls = model.callsFor(customer.tag)
  if (plan.around !== "anywhere") await must("the model is asked", () => calls.length > 0)
  await sleep(plan.afterMs)
  const moment = !calls[0] ? "before the turn" : calls[0].answeredAt ? "after the model's answer" : "while the model thought"
  const begin = performance.now()
  const url = `${instances[(index + 1) % 2]!.url}/api/chats/${customer.chatId}/ai-control`
  const answer = await post(url, token, { isUnderAiControl: false }, { method: "PATCH" })
  const answeredAt = performance.now()
  if (answer.status !== 200) throw new Error(`The take-over was refused: ${JSON.stringify(answer.body)}`)
  const rows = await deployment.sql("select id from message where chat_id = $1 and role = 'Assistant'", [customer.chatId])
  return { customer, plan, moment, before: rows.map(({ id }) => id), answeredAt, tookMs: answeredAt - begin }
}

/** A customer of each instance whom nobody takes over: their answers come after all that was on its way before. */
async function witness(deployment: Deployment, instances: Instance[]) {
  for (const instance of instances) {
    const customer = new Customer(deployment, `question-witness-${instance.name}`, [instance])
    await customer.ask(instance)
    await must("the witness is answered", () => until(() => customer.answers.length > 0, 1_000))
    customer.listener?.close()
  }
}

/** Answers that stand behind the take-over of their chat: both hold the chat's lock when they number their event, so the order is theirs. */
async function storedLate(deployment: Deployment): Promise<Set<string>> {
  const rows = await deployment.sql(
    `select told.payload->'message'->>'id' as id from event told
     join event taken on taken.chat_id = told.chat_id and taken.type = 'CHAT_MODE_CHANGED' and taken.id < told.id
       and not (taken.payload->'value'->>'isUnderAiControl')::boolean
     where told.type = 'MESSAGE_CREATED' and told.payload->'message'->>'role' = 'Assistant'`,
  )
  return new Set(rows.map(({ id }) => id))
}
