import type { Instance } from "../../test/kit/campaign/instance.js"
import { longest, type Report, worst } from "../../test/kit/campaign/report.js"
import type { Sample } from "./gauges.js"
import type { Listener } from "./listener.js"
import type { Regular } from "./regular.js"
import type { Asked } from "./requests.js"
import { gaps, misheard, notToldOnce, storedIn } from "./store.js"
import type { Deployment } from "./test-bed.js"

/** A time in which PostgreSQL was away; moments of `performance.now()`. */
export interface Outage {
  seconds: number
  /** Turns that ran and replies that were due when it was stopped. */
  running: number
  due: number
  /** It is told to stop, it is gone, it is started, it accepts connections. */
  stopping: number
  stopped: number
  starting: number
  back: number
  /** When each instance was ready again. */
  ready: number[]
  /** When all of those were answered who waited at the return, or were given up, and who was not. */
  answered: number
  unanswered: string[]
}

/** A time of load without an outage. */
export interface Phase {
  begin: number
  end: number
  messages: number
  /** Megabytes that each instance kept at its end. */
  kept: number[]
}

/** The observations of clients and operators. */
export interface Seen {
  requests: Asked[]
  samples: Sample[]
  /** One before each outage, and one after the last. */
  phases: Phase[]
  outages: Outage[]
  instances: Instance[]
}

const limits = {
  /** Of an instance that runs: 10 for requests, 3 of the job scheduler, and one that listens (docs/operations.md). */
  connections: 14,
  /** How long customers who wrote before or during an outage may wait for the answer after the return. */
  answeredMs: 60_000,
  /** The contract's time for a 503. */
  answerMs: 5_000,
  readyMs: 10_000,
  /** The share of requests that an instance may refuse because it is too busy to ask PostgreSQL in time; the pace fails beyond one percent. */
  busy: 0.0025,
  /** So many come at least, or the findings say little. */
  askedPerSecond: 5,
  /** How much more memory than before the first outage an instance may keep, and have at the worst moment: garbage that is not collected yet. */
  moreKept: 48,
  moreMeanwhile: 256,
}

/** Judges what clients and operators were told, and what the instances used. */
export async function judgeOutages(report: Report, seen: Seen) {
  const { phases, outages } = seen
  for (const { seconds, running, due, ready, back, answered } of outages) {
    const readyIn = ready.map((at) => `${((at - back) / 1000).toFixed(1)} s`).join(" and ")
    report.note(
      `away for ${seconds} s: ${running} turns ran, ${due} replies were due; ready after ${readyIn}, all answered after ${worst([answered - back])}`,
    )
  }
  const rates = phases.map(({ begin, end, messages }) => messages / ((end - begin) / 1000))
  report.note(`messages a second between outages: ${rates.map((rate) => rate.toFixed(0)).join(", ")}`)
  report.promise(
    "customers who wait at the return are answered",
    outages.flatMap(({ unanswered }) => unanswered),
  )
  await report.pace(
    "they were all answered after the return",
    longest(outages.map(({ answered, back }) => answered - back)),
    limits.answeredMs,
  )
  await judgeRefusals(report, seen)
  const readyAfter = outages.flatMap(({ ready, back }) => ready.map((at) => at - back))
  await report.pace("each instance was ready after the return", longest(readyAfter), limits.readyMs)
  judgeGauges(report, seen)
}

const lasted = ({ beganAt, endedAt }: Asked) => endedAt - beganAt

const described = ({ topic, instance, beganAt, endedAt, status, retryAfter, error }: Asked) =>
  `${topic} at ${instance}: ${status || error} after ${Math.round(endedAt - beganAt)} ms, Retry-After ${retryAfter}`

async function judgeRefusals(report: Report, { requests, outages, instances }: Seen) {
  const byTopic = (...topics: string[]) => requests.filter(({ topic }) => topics.includes(topic))
  const isWithin = ({ beganAt, endedAt }: Asked) => outages.some(({ stopped, starting }) => beganAt >= stopped && endedAt <= starting)
  /** Whether PostgreSQL was away, or the instance not ready yet, at a moment of the request. */
  const touches = ({ instance, beganAt, endedAt }: Asked) => {
    const index = instances.findIndex(({ name }) => name === instance)
    return outages.some(({ stopping, ready }) => endedAt >= stopping && beganAt <= ready[index]!)
  }
  const isRefused = ({ status, retryAfter }: Asked) => status === 503 && retryAfter !== null && retryAfter > 0
  const isServed = ({ status }: Asked) => status === 200 || status === 201
  const asked = byTopic("message", "question")
  const whileAway = asked.filter(isWithin)
  const touching = asked.filter((each) => touches(each) && !isWithin(each))
  report.note(`${whileAway.length} requests while PostgreSQL was away, ${touching.length} while it went or came, ${asked.length} in all`)
  const took = requests.filter(touches)
  report.note(`the longest of all that met an outage took ${worst(took.map(lasted))}`)
  await report.pace("the longest request that met an outage", longest(took.map(lasted)), limits.answerMs)
  report.promise(
    "while PostgreSQL is away every request is 503 with Retry-After",
    whileAway.filter((each) => !isRefused(each)).map(described),
  )
  report.promise(
    "while it goes or comes every request is served or 503 with Retry-After",
    touching.filter((each) => !isRefused(each) && !isServed(each)).map(described),
  )
  const refused = asked.filter((each) => !touches(each) && !isServed(each))
  report.promise("while it is there every request is served", refused.filter((each) => !isRefused(each)).map(described))
  await report.pace("503 while it is there, of all requests", refused.filter(isRefused).length / asked.length, limits.busy, "times")
  report.promise(
    "/health/live and /metrics are always 200",
    byTopic("live", "metrics")
      .filter(({ status }) => status !== 200)
      .map(described),
  )
  const ready = byTopic("ready")
  report.promise(
    "/health/ready is 503 while PostgreSQL is away",
    ready.filter((each) => isWithin(each) && each.status !== 503).map(described),
  )
  const unready = ready.filter((each) => !touches(each) && each.status !== 200)
  await report.pace("/health/ready is 503 while it is there, of all requests", unready.length / ready.length, limits.busy, "times")
  const wanted = outages.reduce((sum, { seconds }) => sum + seconds * limits.askedPerSecond, 0)
  await report.reached("requests while it was away", whileAway.length, wanted)
}

/** Compares each instance after an outage, under the same load, with itself before the first one. */
function judgeGauges(report: Report, { samples, phases, outages, instances }: Seen) {
  const faults = { connections: [] as string[], memory: [] as string[] }
  const rounded = (values: number[]) => values.map((value) => Math.round(value)).join(", ")
  for (const [index, { name }] of instances.entries()) {
    const from = (begin: number, end: number) => samples.filter((each) => each.instance === name && each.at >= begin && each.at <= end)
    const connections = (begin: number, end: number) => Math.max(...from(begin, end).map((each) => each.connections ?? 0))
    const before = { connections: connections(phases[0]!.begin, phases[0]!.end), kept: phases[0]!.kept[index]! }
    const after = outages.map(({ stopped, back, ready }, outage) => ({
      connections: connections(back, phases[outage + 1]!.end),
      kept: phases[outage + 1]!.kept[index]!,
      most: Math.max(...from(stopped, ready[index]!).map(({ megabytes }) => megabytes)),
    }))
    report.note(`${name}: connections ${before.connections} before, ${after.map((each) => each.connections).join(", ")} after`)
    report.note(
      `${name}: keeps ${rounded([before.kept])} MB before, ${rounded(after.map(({ kept }) => kept))} MB after, has at most ${rounded(after.map(({ most }) => most))} MB meanwhile`,
    )
    for (const [outage, each] of after.entries()) {
      const when = `${name}, away for ${outages[outage]!.seconds} s`
      if (each.connections > limits.connections) faults.connections.push(`${when}: ${each.connections} instead of ${limits.connections}`)
      if (each.kept > before.kept + limits.moreKept) faults.memory.push(`${when}: keeps ${rounded([each.kept])} MB`)
      if (each.most > before.kept + limits.moreMeanwhile) faults.memory.push(`${when}: ${rounded([each.most])} MB at the worst moment`)
    }
  }
  report.promise("no instance has more connections than it may have, from the return on", faults.connections)
  report.promise(
    `no instance keeps more memory than before and ${limits.moreKept} MB, or has ${limits.moreMeanwhile} MB more meanwhile`,
    faults.memory,
  )
}

/** Judges what is stored and what was heard. */
export async function judgeStore(deployment: Deployment, report: Report, customers: Regular[], subscribers: Listener[]) {
  const stored = await storedIn(
    deployment,
    customers.map(({ chatId }) => chatId),
  )
  const written = customers.flatMap((customer) => customer.written)
  const again = written.filter(({ sendings }) => sendings > 1).length
  report.note(`${written.length} messages in ${customers.length} chats, ${again} sent again; ${stored.length - written.length} answers`)
  const faults = { once: [] as string[], answered: [] as string[], twice: [] as string[], heard: [] as string[] }
  for (const { name, chatId, listener, written } of customers) {
    const mine = stored.filter((message) => message.chatId === chatId)
    const [questions, answers] = ["Customer", "Assistant"].map((role) => mine.filter((message) => message.role === role)) as [
      typeof mine,
      typeof mine,
    ]
    for (const { tag, id, isLast } of written) {
      const asked = questions.filter(({ text }) => text === `Please answer ${tag}`)
      if (asked.length !== 1 || asked[0]!.id !== id)
        faults.once.push(`${tag}: ${asked.length} times, ids ${asked.map((each) => each.id)}, not ${id}`)
      const times = answers.filter(({ text }) => text.endsWith(` to ${tag}`)).length
      if (isLast && times === 0) faults.answered.push(tag)
      if (times > 1) faults.twice.push(`${tag}: ${times} answers`)
    }
    if (questions.length !== written.length) faults.once.push(`${name}: ${questions.length} stored, ${written.length} written`)
    faults.heard.push(...misheard(name, listener, mine))
  }
  for (const [index, subscriber] of subscribers.entries()) faults.heard.push(...misheard(`subscriber ${index + 1}`, subscriber, stored))
  report.promise("every message is stored once, under the id that was acknowledged", faults.once)
  report.promise("every burst is answered", faults.answered)
  report.promise("no message is answered twice", faults.twice)
  report.promise("each customer and each subscriber heard each message once and in order", faults.heard)
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}
