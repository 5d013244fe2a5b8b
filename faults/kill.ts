import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import type { Chance } from "./kit/chance.js"
import { Customer } from "./kit/customer.js"
import { comeToRest, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import type { Deployment } from "./kit/test-bed.js"

/** The lock of the sequencer: while it is held, a stored answer gets no position and is not delivered. */
const sequencerLock = 7_304_212

/** The point of a turn at which the worker is killed. */
export const points = ["at the hook", "before due", "when due", "in the model", "at the answer", "before sequencing"] as const
export type Point = (typeof points)[number]

interface Plan {
  point: Point
  thinksMs: number
  /** How long after the point is reached; as long as the model thinks at most, or a few milliseconds. */
  share: number
}

/** What a kill campaign is to do. */
export interface KillSize {
  lane: string
  instances: number
  points: Point[]
  /** How long a customer may wait for the answer after the last kill. */
  patienceMs: number
}

export const answeredOnce = "each question has exactly one answer in the store"

/** Kills the server that works on a turn, with -9, and starts it again; every customer asks once and expects one answer. */
export async function killCampaign(deployment: Deployment, report: Report, chance: Chance, size: KillSize) {
  const plans = size.points.map((point): Plan => ({ point, thinksMs: chance.whole(200, 1_200), share: chance.whole(0, 100) / 100 }))
  const names = ["a", "b"].slice(0, size.instances)
  const instances = await Promise.all(names.map((name) => deployment.start(`${size.lane}-${name}`)))
  const customers: Customer[] = []
  const restarts: number[] = []
  let lastStart = 0
  for (const [index, plan] of plans.entries()) {
    const customer = new Customer(deployment, `question-${size.lane}-${index}`, instances)
    customers.push(customer)
    deployment.model.thinks(customer.tag, plan.thinksMs)
    const victim = await strike(deployment, plan, customer, instances, index)
    const begin = performance.now()
    await victim.start()
    lastStart = performance.now()
    restarts.push(lastStart - begin)
    await must("the question is taken", () => customer.chatId !== "")
  }
  await until(() => customers.every(({ answers }) => answers.length > 0), size.patienceMs)
  const waited = customers.flatMap(({ answers, askedAt }) => answers.slice(0, 1).map(({ at }) => at - askedAt))
  const unanswered = customers.length - waited.length
  // With unanswered customers the work never ends.
  if (unanswered === 0) await comeToRest(deployment, instances)

  const calls = customers.map(({ tag }) => deployment.model.callsFor(tag).length)
  report.note(`${plans.length} kills on ${instances.length} instance(s): ${tally(plans.map(({ point }) => point))}`)
  report.note(
    `${calls.filter((each) => each > 1).length} turns asked the model again; ${tally(customers.map(({ sendings }) => `sent ${sendings > 1 ? "again" : "once"}`))}`,
  )
  const afterwards = customers.flatMap(({ answers }) => answers.slice(0, 1).map(({ at }) => at - lastStart))
  report.note(`longest wait for an answer ${worst(waited)}, after the last start ${worst(afterwards)}; longest start ${worst(restarts)}`)
  const stored = await storedIn(
    deployment,
    customers.map(({ chatId }) => chatId),
  )
  const faults = { answers: [] as string[], questions: [] as string[], heard: [] as string[] }
  for (const [index, { tag, chatId, listener }] of customers.entries()) {
    const mine = stored.filter((message) => message.chatId === chatId)
    const [answers, questions] = ["Assistant", "Customer"].map((role) => mine.filter((message) => message.role === role).length)
    if (answers !== 1) faults.answers.push(`${tag}, killed ${plans[index]!.point}: ${answers} answers`)
    if (questions !== 1) faults.questions.push(`${tag}: stored ${questions} times`)
    faults.heard.push(...misheard(tag, listener, mine))
  }
  report.promise(answeredOnce, faults.answers)
  report.promise("each question is stored once, however often it was sent", faults.questions)
  report.promise("each customer heard what is stored, each once and in order", faults.heard)
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}

/** Sends a question, waits for the planned point of the turn, and kills the instance that works on it. */
async function strike(deployment: Deployment, plan: Plan, customer: Customer, instances: Instance[], index: number): Promise<Instance> {
  const entry = instances[index % instances.length]!
  const asking = customer.ask(entry)
  // A rejection is handled where it is awaited, below or by the campaign.
  asking.catch(() => {})
  if (plan.point === "at the hook") {
    await sleep(plan.share * 40)
    return killed(entry)
  }
  await asking
  if (plan.point === "before due") {
    await sleep(plan.share * 280)
    return killed(entry)
  }
  if (plan.point === "when due") {
    await sleep(280 + plan.share * 100)
    return killed(entry)
  }
  if (plan.point === "before sequencing") return beforeSequencing(deployment, customer, instances)
  const calls = deployment.model.callsFor(customer.tag)
  await must(`${customer.tag} reaches the model`, () => calls.length > 0)
  await sleep(plan.point === "in the model" ? plan.share * plan.thinksMs : plan.thinksMs + plan.share * 40)
  return killed(workerOf(deployment, customer, instances))
}

/** Holds the sequencer until the answer is stored: it is killed with the answer committed and its event without a place. */
async function beforeSequencing(deployment: Deployment, customer: Customer, instances: Instance[]): Promise<Instance> {
  const client = await deployment.connection()
  try {
    await client.query("begin")
    await client.query("select pg_advisory_xact_lock($1)", [sequencerLock])
    const stored = "select 1 from message where chat_id = $1 and role = 'Assistant'"
    await must(`the answer to ${customer.tag} is stored`, async () => (await deployment.sql(stored, [customer.chatId])).length > 0)
    return await killed(workerOf(deployment, customer, instances))
  } finally {
    await client.end()
  }
}

/** The instance that called the model last for this customer. */
function workerOf(deployment: Deployment, { tag }: Customer, instances: Instance[]): Instance {
  const by = deployment.model.callsFor(tag).at(-1)?.by
  return instances.find(({ name }) => name === by)!
}

async function killed(instance: Instance): Promise<Instance> {
  await instance.kill()
  return instance
}
