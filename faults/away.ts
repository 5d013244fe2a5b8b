import type { Instance } from "../test/kit/campaign/instance.js"
import type { Report } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { judgeOutages, judgeStore, type Outage, type Phase } from "./kit/away-findings.js"
import { type Chance, count } from "./kit/chance.js"
import { kept, named, watchGauges } from "./kit/gauges.js"
import { Regular } from "./kit/regular.js"
import { Requests, type Topic } from "./kit/requests.js"
import { comeToRest } from "./kit/store.js"
import type { Deployment } from "./kit/test-bed.js"

/** How long PostgreSQL is away each time, how many customers write, and how many messages they write before, between and after. */
export interface AwaySize {
  seconds: number[]
  customers: number
  between: number
}

/** How long a customer who wrote before or during an outage may wait for the answer after the return. */
const patienceMs = 60_000

/** What runs and waits when PostgreSQL is stopped, at least. */
const least = { running: 10, due: 5 }

/** PostgreSQL is stopped under load and comes back: requests are refused meanwhile, and afterwards everything is as if it had never been away. */
export async function awayCampaign(deployment: Deployment, report: Report, chance: Chance, size: AwaySize) {
  const instances = await Promise.all(["away-a", "away-b"].map((name) => deployment.start(name, named(name))))
  const requests = new Requests()
  const plans = count(size.customers).map(() =>
    count(60).map(() => ({ messages: chance.whole(1, 3), thinksMs: chance.whole(50, 300), pauseMs: chance.whole(800, 2_200) })),
  )
  const customers = plans.map((plan, index) => new Regular(deployment, requests, `away-${index}`, instances, plan))
  const slow = count(997).map(() => chance.whole(1_500, 6_000))
  const taken = () => customers.flatMap(({ written }) => written).filter(({ id }) => id).length
  const state = { isOver: false, isSlow: false, questions: 0 }
  const thinksMs = (planned: number) => (state.isSlow ? slow[state.questions++ % slow.length]! : planned)

  let turn = 0
  const subscribers = count(2).map(() => deployment.listen(() => instances[turn++ % 2]!.url, { accessToken: deployment.token }))
  for (const subscriber of subscribers) subscriber.isPatient = true
  const writing = customers.map((customer) => customer.write(() => state.isOver, thinksMs))
  await fillPools(deployment, requests, instances)
  const gauges = watchGauges(deployment, requests, instances, () => state.isOver)
  const probes = instances.map((instance) => probe(deployment, requests, instance, () => state.isOver))
  /** Load without an outage, until so many more messages are taken. */
  const phase = async (): Promise<Phase> => {
    const [begin, before] = [performance.now(), taken()]
    await must(`${size.between} messages are taken`, () => taken() >= before + size.between, 120_000)
    const [end, messages] = [performance.now(), taken() - before]
    return { begin, end, messages, kept: await kept(requests, instances) }
  }
  // The first messages fill caches and compile code: what a server keeps is compared after them.
  await phase()
  const phases = [await phase()]
  const outages: Outage[] = []
  for (const seconds of size.seconds) {
    state.isSlow = true
    const caught = await turnsAndDue(deployment, instances)
    const stopping = performance.now()
    await deployment.postgres.stopImmediately()
    state.isSlow = false
    const stopped = performance.now()
    subscribers[outages.length % 2]!.cut()
    await sleep(seconds * 1000)
    const starting = performance.now()
    await deployment.postgres.startAgain()
    const back = performance.now()
    const ready = await Promise.all(instances.map((instance) => readyAt(requests, instance)))
    const waiting = customers.flatMap(({ unanswered }) => unanswered ?? [])
    const unanswered = () => customers.flatMap((customer) => waiting.filter((tag) => customer.unanswered === tag))
    await until(() => unanswered().length === 0, patienceMs)
    const answered = performance.now()
    outages.push({ seconds, ...caught, stopping, stopped, starting, back, ready, answered, unanswered: unanswered() })
    phases.push(await phase())
  }
  state.isOver = true
  await Promise.all([...writing, ...probes])
  const samples = await gauges
  // With unanswered customers the deployment would never be idle.
  if (outages.every(({ unanswered }) => unanswered.length === 0)) await comeToRest(deployment, [])
  const [all] = await deployment.sql("select count(*)::integer as messages from message")
  await until(() => subscribers.every(({ heard }) => heard.filter(({ message }) => message).length >= all.messages), 30_000)
  await Promise.all(instances.map((instance) => instance.stop()))
  await judgeOutages(report, { requests: requests.all, samples, phases, outages, instances })
  await judgeStore(deployment, report, customers, subscribers)
}

/** As many requests at once as have a pool open all of its connections: what is compared later is a pool that is full. */
async function fillPools(deployment: Deployment, requests: Requests, instances: Instance[]) {
  await Promise.all(instances.flatMap((instance) => count(40).map(() => requests.ask("question", instance, ...question(deployment)))))
}

const question = (deployment: Deployment) => ["/api/chats?take=5", { headers: { "x-access-token": deployment.token } }] as const

/** Asks an instance for everything, again and again. A question that hangs keeps none of the others from being asked. */
async function probe(deployment: Deployment, requests: Requests, instance: Instance, isOver: () => boolean) {
  const headers = { "x-access-token": deployment.token, "content-type": "application/json" }
  const query = { method: "POST", headers, body: JSON.stringify({ query: "{ chatFolders { id } }" }) }
  const loop = async (topic: Topic, path: string, init: RequestInit = {}) => {
    while (!isOver()) {
      await requests.ask(topic, instance, path, init)
      await sleep(200)
    }
  }
  const health = [loop("live", "/health/live"), loop("ready", "/health/ready")]
  await Promise.all([loop("question", ...question(deployment)), loop("question", "/graphql", query), ...health])
}

/** Waits until turns run on both instances and replies are due; answers how many. */
async function turnsAndDue(deployment: Deployment, instances: Instance[]): Promise<{ running: number; due: number }> {
  let [running, due] = [0, 0]
  await must("turns run and replies are due", async () => {
    const open = [...deployment.model.calls.values()].flat().filter(({ answeredAt }) => !answeredAt)
    running = open.length
    const isOnBoth = instances.every(({ name }) => open.filter(({ by }) => by === name).length >= least.running / 3)
    if (running < least.running || !isOnBoth) return false
    const [row] = await deployment.sql("select count(*)::integer as due from chat where reply_due_at is not null and turn_id is null")
    due = row.due
    return due >= least.due
  })
  return { running, due }
}

async function readyAt(requests: Requests, instance: Instance): Promise<number> {
  await must(`${instance.name} is ready`, async () => (await requests.ask("ready", instance, "/health/ready")).asked.status === 200)
  return performance.now()
}
