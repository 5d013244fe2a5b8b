import { setTimeout as sleep } from "node:timers/promises"
import { tableOf } from "../figures.js"
import { cores, cpuMs, end, freePort, residentMb, startNode, untilAnswers } from "../processes.js"
import { createChats } from "../turns/chats.js"
import { type Deployment, openDeployment } from "../turns/deployment.js"
import { Helper } from "../turns/helper.js"
import type { Side } from "../turns/sides.js"
import type { OpenOrder, Published, PublishOrder } from "./clients.js"
import type { SubscriberOptions } from "./options.js"

const subscribers = 1_000
const notReading = subscribers / 20
const selections = { payload: "{ id type createdAt payload }", message: "{ id type createdAt message { id role text createdAt status } }" }
/** Targets: events a second of raw ws, CPU a message of that with one subscriber, megabytes of growth. */
const targets = { ofRaw: 0.5, ofOne: 1.5, growthMb: 50 }

interface Bench {
  ours: Side
  raw: { url: string; pid: number }
  clients: Helper
  token: string
  chats: string[]
}

/** W7: 1,000 subscribers of one company, and 1,000 subscribers of a chat each; returns the report. */
export async function measureSubscribers(options: SubscriberOptions, say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
  const deployment = await openDeployment(stack, options, say)
  const bench = await openBench(stack, deployment)
  const all: Record<string, Round[]> = { own: [], ...Object.fromEntries(Object.keys(selections).map((name) => [name, []])) }
  let payload = ""
  for (let round = 0; round < options.rounds; round++) {
    for (const [name, selection] of Object.entries(selections)) {
      const ours = await toAll(bench, bench.ours, selection, options.seconds, messages(bench))
      payload = ours.payload
      const raw = await toAll(bench, bench.raw, null, options.seconds, [payload])
      say(`W7 ${name} round ${round + 1} ours ${ours.perSecond.toFixed(1)} events/s, raw ws ${raw.perSecond.toFixed(1)}`)
      all[name]!.push({ ours, other: raw })
    }
    const own = await toOwn(bench, bench.chats, options.seconds)
    const one = await toOwn(bench, bench.chats.slice(0, 1), options.seconds)
    say(`W7 own chats round ${round + 1} ${own.cpu.toFixed(2)} ms CPU a message, with one subscriber ${one.cpu.toFixed(2)}`)
    all["own"]!.push({ ours: own, other: one })
  }
  const memory = options.memoryMinutes > 0 ? await watchMemory(bench, options.memoryMinutes, say) : null
  return report(all, memory)
}

interface Figures extends Published {
  /** Milliseconds of the server's CPU an event. */
  cpu: number
}
interface Round {
  ours: Figures
  other: Figures
}

async function openBench(stack: AsyncDisposableStack, deployment: Deployment): Promise<Bench> {
  const sides = new AsyncDisposableStack()
  const [ours] = await deployment.start(sides, ["ours"], {})
  const clients = Helper.start("../subscribers/clients.ts")
  stack.defer(() => clients.stop())
  const port = await freePort()
  const child = startNode(cores.server, ["--import", "tsx", "bench/subscribers/reference.ts"], { PORT: String(port) })
  stack.defer(() => end(child))
  const raw = { url: `http://127.0.0.1:${port}`, pid: child.pid! }
  await untilAnswers(child, raw.url)
  const company = ours!.companies[0]!
  const chats = await createChats({ ...ours!, companies: [company] }, { count: subscribers, answeredBy: null, dueAt: null })
  return { ours: ours!, raw, clients, token: company.token, chats: chats.map(({ id }) => id) }
}

const messages = ({ chats }: Bench) => chats.map((chatId) => JSON.stringify({ chatId, text: "Your parcel is on its way to you." }))

const open = ({ clients, token }: Bench, url: string, order: Pick<OpenOrder, "selection" | "chats"> & { silent?: number }) =>
  clients.ask({ do: "open", url, token, silent: 0, ...order } satisfies OpenOrder)

async function publish(
  bench: Bench,
  { url, pid }: { url: string; pid: number },
  order: Pick<PublishOrder, "bodies" | "readers" | "seconds">,
) {
  const path = url === bench.ours.url ? "/api/messages" : "/"
  const before = cpuMs(pid)
  const published = await bench.clients.ask<Published>({
    do: "publish",
    url: url + path,
    token: bench.token,
    ...order,
  } satisfies PublishOrder)
  return { ...published, cpu: (cpuMs(pid) - before) / published.events }
}

/** All subscribers receive each event. */
async function toAll(bench: Bench, side: { url: string; pid: number }, selection: string | null, seconds: number, bodies: string[]) {
  await open(bench, side.url, { selection, chats: Array.from({ length: subscribers }, () => null) })
  // The first events reach the code that is not compiled yet.
  await publish(bench, side, { bodies, readers: subscribers, seconds: 1 })
  const figures = await publish(bench, side, { bodies, readers: subscribers, seconds })
  await bench.clients.ask({ do: "close" })
  return figures
}

/** Each subscriber receives the events of its own chat. */
async function toOwn(bench: Bench, chats: string[], seconds: number): Promise<Figures> {
  await open(bench, bench.ours.url, { selection: selections.payload, chats })
  const bodies = messages({ ...bench, chats })
  await publish(bench, bench.ours, { bodies, readers: 1, seconds: 1 })
  const figures = await publish(bench, bench.ours, { bodies, readers: 1, seconds })
  await bench.clients.ask({ do: "close" })
  return figures
}

/** Memory of the server while some subscribers do not read: after the first minute, and at the end. */
async function watchMemory(bench: Bench, minutes: number, say: (line: string) => void): Promise<[number, number]> {
  const { url, pid } = bench.ours
  const chats = Array.from({ length: subscribers }, () => null)
  await open(bench, url, { selection: selections.payload, chats, silent: notReading })
  const seen: number[] = []
  for (let minute = 0; minute < minutes; minute++) {
    await publish(bench, bench.ours, { bodies: messages(bench), readers: subscribers - notReading, seconds: 50 })
    await sleep(10_000)
    seen.push(residentMb(pid))
    say(`W7 memory after ${minute + 1} minutes: ${seen.at(-1)!.toFixed(0)} MB`)
  }
  await bench.clients.ask({ do: "close" })
  return [seen[0]!, seen.at(-1)!]
}

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

function report(all: Record<string, Round[]>, memory: [number, number] | null): string {
  const of = (name: string, pick: (round: Round) => number) => median(all[name]!.map(pick))
  const sides = Object.keys(selections).flatMap((name) =>
    (["ours", "other"] as const).map((side) => [
      side === "ours" ? `1,000 subscribers, ${name}` : "",
      side === "ours" ? "ours" : "raw ws",
      of(name, (round) => round[side].perSecond).toFixed(1),
      of(name, (round) => round[side].cpu).toFixed(2),
      side === "ours" ? of(name, ({ ours, other }) => ours.perSecond / other.perSecond).toFixed(2) : "",
    ]),
  )
  const own = of("own", ({ ours, other }) => ours.cpu / other.cpu)
  const met = (is: boolean) => (is ? "met" : "missed")
  const verdicts = [
    ...Object.keys(selections).map((name) => {
      const ratio = of(name, ({ ours, other }) => ours.perSecond / other.perSecond)
      return [`events a second, ${name}, of raw ws`, `at least ${targets.ofRaw}`, ratio.toFixed(2), met(ratio >= targets.ofRaw)]
    }),
    ["CPU a message, each on its own chat, of one subscriber", `at most ${targets.ofOne}`, own.toFixed(2), met(own <= targets.ofOne)],
  ]
  if (memory) {
    const growth = memory[1] - memory[0]
    verdicts.push(["MB more, 5 % do not read", `at most ${targets.growthMb}`, growth.toFixed(0), met(growth <= targets.growthMb)])
  }
  return `Events\n${tableOf([["", "", "events/s", "CPU ms", "of raw ws"], ...sides], 2)}\n\n${tableOf([["Targets", "target", "", ""], ...verdicts], 1)}`
}
