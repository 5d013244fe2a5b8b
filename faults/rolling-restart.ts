import { rootLimits } from "../src/limits.js"
import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { freePort } from "../test/kit/free-port.js"
import { type Nginx, startNginx } from "../test/kit/nginx.js"
import { type Chance, count } from "./kit/chance.js"
import { type ClientOptions, Listener } from "./kit/listener.js"
import { SocketIoListener } from "./kit/socket-io-listener.js"
import { comeToRest, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import type { Deployment } from "./kit/test-bed.js"
import { type Answered, ProxyClient, Visitor } from "./kit/visitors.js"
import { openChats } from "./resume.js"

/** How much goes on while two instances are restarted one after the other. */
export interface RollingSize {
  requestsPerSecond: number
  /** Visitors of the widget, each with a socket for its chat. */
  visitors: number
  /** Sockets for all events of the company: over graphql-ws, and over Socket.IO. */
  subscribers: { graphqlWs: number; socketIo: number }
  /** How often both are restarted. */
  rounds: number
}

const patienceMs = 60_000
/** Requests that wait for their response, at most. */
const inFlight = 30
/** Almost as long as an instance waits for a connection to the database before it refuses a request. */
const busyMs = rootLimits.databaseWaitMs * 0.9
/** The share of requests that may be refused so; the pace fails beyond one percent. */
const busyShare = 0.0025
/** How long the load goes on after the last restart. */
const afterwardsMs = 2_000

/** Two instances behind nginx are restarted one after the other under load, and no client notices. */
export async function rollingRestartCampaign(deployment: Deployment, report: Report, chance: Chance, size: RollingSize) {
  await using stack = new AsyncDisposableStack()
  const instances = await Promise.all(
    ["rolling-a", "rolling-b"].map(async (name) => deployment.start(name, { PORT: String(await freePort()) })),
  )
  const hosts = instances.map(({ url }) => new URL(url).host)
  const chats = await openChats(deployment, instances[0]!, 8)
  const nginx = await startNginx(hosts)
  stack.defer(() => nginx.stop())
  const client = new ProxyClient(nginx.url)
  stack.defer(() => client.close())

  // As the clients' libraries do, they return some time after they were cut, not all at once.
  const optionsOf = (kind: number, index: number) => ({ localAddress: addressOf(kind, index), reconnectMs: chance.whole(200, 1_500) })
  const visitors = count(size.visitors).map((index) => new Visitor(deployment, client, nginx.url, `rolling-${index}`, optionsOf(1, index)))
  for (const visitor of visitors) deployment.model.thinks(`question-${visitor.name}-0`, 20)
  const subscribers = openSubscribers(deployment, nginx.url, size, optionsOf)
  stack.defer(() => {
    for (const socket of [...subscribers, ...visitors.map(({ listener }) => listener)]) socket?.close()
  })
  await meet(visitors)

  const load = new Load(deployment, client, chance, visitors, chats, size.requestsPerSecond)
  const running = load.run()
  await sleep(1_000)
  const restarts = []
  for (const instance of count(size.rounds).flatMap(() => instances)) restarts.push(await restarted(deployment, nginx, instance))
  await sleep(afterwardsMs)
  load.isOver = true
  await running

  const questions = visitors.flatMap(({ asked }) => asked)
  const isAnswered = await until(() => visitors.every(({ answers, asked }) => answers >= asked.length), patienceMs)
  const stored = await storedIn(deployment, [...chats, ...visitors.map(({ chatId }) => chatId).filter(Boolean)])
  const messages = (listener: { heard: Listener["heard"] }) => listener.heard.filter(({ type }) => type === "MESSAGE_CREATED").length
  await until(() => subscribers.every((socket) => messages(socket) >= stored.length), patienceMs)
  // Whatever is told twice is told by now: a last message comes after it.
  await sleep(100)
  if (isAnswered) await comeToRest(deployment, instances)
  report.note(
    `${client.all.length} requests, ${load.reached} a second of ${size.requestsPerSecond}: ${tally(client.all.map(({ what }) => what))}`,
  )
  report.note(`${client.repeated} of them were repeated, because nginx had closed the connection that they were to use`)
  report.note(`longest response ${worst(client.all.map(({ tookMs }) => tookMs))}; ${visitors.length + subscribers.length} sockets`)
  const unopened = [...subscribers, ...visitors.flatMap(({ listener }) => listener ?? [])].flatMap((socket) => socket.unopened)
  report.note(`connections of sockets that were not opened: ${tally(unopened) || "none"}`)
  report.note(
    `restarts took ${restarts.map(({ seconds }) => seconds).join(", ")} s, with ${restarts.map(({ turns }) => turns).join(", ")} turns in the model`,
  )
  await judgeRequests(report, client, nginx.log("error"))
  judgeStore(report, { stored, visitors, questions, written: load.written })
  report.promise("each socket heard what is stored, each once and in order", [
    ...subscribers.flatMap((socket, index) => misheard(`subscriber ${index + 1}`, socket, stored)),
    ...visitors.flatMap(({ name, chatId, listener }) =>
      misheard(
        name,
        listener,
        stored.filter((message) => message.chatId === chatId),
      ),
    ),
  ])
  await report.reached("restarts while turns ran", restarts.filter(({ turns }) => turns > 0).length, 1)
}

/** An address of this machine: nginx limits each address, and keeps each network of 256 on one instance. */
const addressOf = (kind: number, index: number) => `127.${kind + Math.floor(index / 250)}.${index % 250}.1`

/** Opens the visitors' chats, some at once, and waits for their answers. */
async function meet(visitors: Visitor[]) {
  const waiting = [...visitors]
  const clerk = async () => {
    for (let visitor = waiting.shift(); visitor; visitor = waiting.shift()) await visitor.ask()
  }
  await Promise.all(count(20).map(clerk))
  await must("all visitors are answered", () => visitors.every(({ answers }) => answers > 0))
}

function openSubscribers(
  { token, origin }: Deployment,
  url: string,
  { subscribers: { graphqlWs, socketIo } }: RollingSize,
  optionsOf: (kind: number, index: number) => ClientOptions,
) {
  const nothing = () => {}
  return [
    ...count(graphqlWs).map((index) => new Listener(() => url, { accessToken: token }, origin, nothing, optionsOf(10, index))),
    ...count(socketIo).map((index) => new SocketIoListener(() => url, token, origin, nothing, optionsOf(20, index))),
  ]
}

/** Restarts an instance as docs/operations.md says: out of the proxy, SIGTERM, into the proxy when it is ready again. */
async function restarted(deployment: Deployment, nginx: Nginx, instance: Instance) {
  await nginx.leaveOut(new URL(instance.url).host)
  const begin = performance.now()
  const calls = [...deployment.model.calls.values()].flat()
  const turns = calls.filter(({ by, answeredAt }) => by === instance.name && answeredAt === null).length
  await instance.stop()
  const stopMs = performance.now() - begin
  await instance.start()
  await must(`${instance.name} is ready`, async () => (await fetch(`${instance.url}/health/ready`)).ok)
  const seconds = `${(stopMs / 1_000).toFixed(1)} + ${((performance.now() - begin - stopMs) / 1_000).toFixed(1)}`
  await nginx.leaveOut(null)
  return { turns, seconds }
}

/** Sends requests at a rate, or at a lower one on a machine that is too slow for it: reads over REST and GraphQL, messages, questions. */
class Load {
  isOver = false
  /** Texts of messages that were answered with 201. */
  readonly written: string[] = []
  /** Requests a second that were sent. */
  reached = 0
  #sent = 0

  constructor(
    private readonly deployment: Deployment,
    private readonly client: ProxyClient,
    private readonly chance: Chance,
    private readonly visitors: Visitor[],
    private readonly chats: string[],
    private readonly perSecond: number,
  ) {}

  async run() {
    const pending = new Set<Promise<unknown>>()
    const [begin, before] = [performance.now(), this.client.all.length]
    let due = 0
    for (let last = begin; !this.isOver; await sleep(5)) {
      const now = performance.now()
      due += ((now - last) / 1_000) * this.perSecond
      last = now
      for (; due >= 1; due -= 1) {
        // What a slow machine cannot take is left out, not sent later.
        if (pending.size >= inFlight) continue
        const sent = this.next(this.#sent++).finally(() => pending.delete(sent))
        pending.add(sent)
      }
    }
    await Promise.all(pending)
    this.reached = Math.round((this.client.all.length - before) / ((performance.now() - begin) / 1_000))
  }

  private next(index: number): Promise<unknown> {
    const [group, kind] = [Math.floor(index / 10), index % 10]
    const token = { "x-access-token": this.deployment.token }
    const from = addressOf(30, index % 20)
    const chatId = this.chats[group % this.chats.length]!
    const get = (path: string) => this.client.send("REST read", from, "GET", path, token)
    if (kind === 0) return this.ask(this.visitors[group % this.visitors.length]!)
    if (kind === 1) return this.write(from, { chatId, role: "User", text: `message ${index}` })
    if (kind === 2) return get("/api/chats?take=5")
    if (kind === 3) return get(`/api/chats/${chatId}`)
    if (kind === 4) return get(`/api/messages?chatId=${chatId}&take=5`)
    const query = kind < 8 ? "{ chats(first: 5) { nodes { id lastMessage { text } } } }" : "{ chatFolders { id } }"
    return this.client.send("GraphQL read", from, "POST", "/graphql", token, { query })
  }

  private ask(visitor: Visitor) {
    this.deployment.model.thinks(`question-${visitor.name}-${visitor.asked.length}`, this.chance.whole(100, 1_500))
    return visitor.ask()
  }

  private async write(from: string, body: { chatId: string; role: string; text: string }) {
    const { status } = await this.client.send("message", from, "POST", "/api/messages", { "x-access-token": this.deployment.token }, body)
    if (status === 201) this.written.push(body.text)
  }
}

async function judgeRequests(report: Report, client: ProxyClient, errors: string) {
  const refused = client.all.filter(({ status, body }) => (status !== 200 && status !== 201) || body?.errors)
  // An instance that has had no free connection for so long is too busy, and says so.
  const isBusy = ({ status, tookMs }: Answered) => status === 503 && tookMs >= busyMs
  const failed = refused.filter((each) => !isBusy(each))
  const faults = failed.map(
    ({ what, status, body, error }) => `${what}: ${status} ${(error || JSON.stringify(body)).replaceAll(/\s+/g, " ")}`,
  )
  // A refused connection is what nginx tries the next instance for.
  const lines = errors.split("\n").filter((line) => !line.includes("Connection refused"))
  if (faults.length > 0) report.note(`nginx logged: ${lines.slice(-8).join("\n")}`)
  report.promise("no request failed", faults)
  await report.pace(
    "requests that waited in vain for a connection, of all",
    refused.filter(isBusy).length / client.all.length,
    busyShare,
    "times",
  )
}

interface Outcome {
  stored: Awaited<ReturnType<typeof storedIn>>
  visitors: Visitor[]
  questions: string[]
  written: string[]
}

function judgeStore(report: Report, { stored, visitors, questions, written }: Outcome) {
  const texts = new Map<string, number>()
  for (const { text } of stored) texts.set(text, (texts.get(text) ?? 0) + 1)
  const answers = new Map<string, number>()
  for (const { role, text } of stored) {
    const [tag] = (role === "Assistant" && /question-\S+/.exec(text)) || []
    if (tag) answers.set(tag, (answers.get(tag) ?? 0) + 1)
  }
  const notOnce = (names: string[], times: Map<string, number>) =>
    names.filter((name) => times.get(name) !== 1).map((name) => `${name}: ${times.get(name) ?? 0} times`)
  report.note(`${visitors.length} visitors asked ${questions.length} questions; ${written.length} messages were written`)
  report.promise("each question has exactly one answer", notOnce(questions, answers))
  report.promise("each message and question is stored exactly once", [
    ...notOnce(written, texts),
    ...notOnce(
      questions.map((tag) => `Please answer ${tag}`),
      texts,
    ),
  ])
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}
