import { rootLimits } from "../../src/limits.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { duration, pace } from "../kit/pace.js"
import { type ServerProcess, serverProcess } from "../kit/server-process.js"
import { endOfLog, rawSocket, subscribe } from "../kit/sockets.js"
import { type TcpProxy, tcpProxy } from "../kit/tcp-proxy.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

// Before that of the test server, which drops the database.
afterAll(async () => {
  await server.stop()
  await proxy.close()
})

const w = world()
const { acme } = w
let proxy: TcpProxy
let server: ServerProcess
/** Clients of the server behind the proxy. */
let there: typeof w

beforeAll(async () => {
  proxy = await tcpProxy(w.databaseUrl)
  server = await serverProcess(w, { DATABASE_URL: proxy.url })
  there = { ...w, url: server.url }
})
afterEach(async () => {
  proxy.pass()
  await readyAgain()
  expect(server.ended()).toBeNull()
})

const asToken = () => ({ "x-access-token": acme.token, "content-type": "application/json" })

const statusOf = async (path: string) => (await fetch(server.url + path)).status
const readyAgain = () => until("the server is ready", async () => (await statusOf("/health/ready")) === 200, server.log)

/** How long the slowest refusal of a test took. */
let longestMs = 0
beforeEach(() => {
  longestMs = 0
})

/** A request that has to be refused in the contract's shape, with Retry-After. */
async function unavailable(path: string, init: RequestInit = {}): Promise<void> {
  const begin = performance.now()
  const answer = await fetch(server.url + path, init)
  const body = (await answer.json()) as { errors?: { extensions: object }[] }
  const described = { statusCode: 503, code: "SERVICE_UNAVAILABLE", details: [], requestId: answer.headers.get("x-request-id") }
  if (body.errors) expect(body.errors).toMatchObject([{ message: expect.stringMatching(/try again/), extensions: described }])
  else expect({ status: answer.status, ...body }).toMatchObject({ status: 503, error: "Service Unavailable", ...described })
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  if (path.startsWith("/api/"))
    w.fits((init.method ?? "GET").toLowerCase(), path, { status: answer.status, headers: Object.fromEntries(answer.headers), body })
  longestMs = Math.max(longestMs, performance.now() - begin)
}

const graphql = (query: string, headers: Record<string, string> = asToken()) =>
  unavailable("/graphql", { method: "POST", headers, body: JSON.stringify({ query }) })

/** Every request is refused, and the health routes report the state. */
async function allIsRefused() {
  await Promise.all([
    unavailable("/api/chats", { headers: asToken() }),
    unavailable("/api/messages", { method: "POST", headers: asToken(), body: "{}" }),
    unavailable("/api/auth/me", { headers: { authorization: `Bearer ${acme.owner.jwt}` } }),
    unavailable("/api/auth/sign-in", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }),
    unavailable("/hooks/widget/0191e3a0-0000-7000-8000-000000000000", { method: "POST", body: "{}" }),
    graphql("{ chatFolders { id } }"),
    // This one needs no authentication: it fails while it runs.
    graphql('mutation { signIn(email: "a@example.com", password: "long enough") { accessToken } }', { "content-type": "application/json" }),
    rawSocket(there).then(async (socket) => expect(await socket.open(acme.token)).toBe(1013)),
    fetch(`${server.url}/health/live`).then(({ status }) => expect(status).toBe(200)),
    fetch(`${server.url}/health/ready`).then(async (answer) => {
      expect([answer.status, await answer.json()]).toEqual([503, { status: "unavailable", database: false, queue: false }])
    }),
  ])
}

it("a database that resets every connection: requests are refused at once, and the server recovers completely", async () => {
  const began = performance.now()
  const heard = await subscribe(there, acme.token, { after: await endOfLog(w) })
  const first = await acme.chat()
  expect((await heard.next()).payload).toEqual(first)
  const socket = await rawSocket(there)
  await socket.open(acme.token)
  expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
  proxy.reset()
  await until("the server knows of the outage", async () => (await statusOf("/health/ready")) === 503)
  await allIsRefused()
  for (const operation of ["{ chatFolders { id } }", "subscription { events { id } }"]) {
    const [{ payload }] = await socket.ask(operation)
    expect(payload.errors).toMatchObject([{ extensions: { code: "SERVICE_UNAVAILABLE", statusCode: 503 } }])
  }
  const furtherAttempts = async (count: number) => {
    const before = proxy.attempts()
    return duration(() => until(`the server tries ${count} times to connect`, () => proxy.attempts() >= before + count))
  }
  await furtherAttempts(40)
  // So many that those which a busy machine lets happen at once do not count.
  const count = 120
  // The job scheduler polls two dozen kinds of jobs each second, beside four other pollers.
  expect(count / ((await furtherAttempts(count)) / 1_000)).toBeLessThan(100)
  await allIsRefused()
  await pace("a request is refused while the database resets connections", 2_500, "ms", () => longestMs)
  proxy.pass()
  await readyAgain()
  // The socket and its subscription are still open.
  const chat = await acme.chat()
  expect((await heard.next()).payload).toEqual(chat)
  expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
  await heard.stop()
  socket.socket.terminate()
  expect(proxy.open()).toBeLessThanOrEqual(14)
  // What repeats is logged at once, then once per interval.
  const most = 2 + Math.floor((performance.now() - began) / rootLimits.repeatedLogMs)
  for (const message of ["request refused: a service does not answer", "job scheduler error"]) {
    const lines = server.log().split(message).length - 1
    expect(lines).toBeGreaterThan(0)
    expect({ message, lines, isMore: lines > most }).toMatchObject({ isMore: false })
  }
})

it("a database that accepts connections and does not respond: no request waits longer than five seconds", async () => {
  const chat = await acme.chat()
  // With idle connections in the pool, which look healthy.
  await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/api/chats/${chat.id}`, { headers: asToken() })))
  proxy.hang()
  // Requests that are running, that wait for the pool, and that arrive when the outage is known.
  for (let round = 0; round < 4; round += 1) await allIsRefused()
  // The server gives up after five seconds.
  await pace("a request is refused while the database does not respond", 6_000, "ms", () => longestMs)
  proxy.pass()
  await readyAgain()
  expect((await fetch(`${server.url}/api/chats/${chat.id}`, { headers: asToken() })).status).toBe(200)
  expect(proxy.open()).toBeLessThanOrEqual(14)
})

it("transactions that lose their connection free its place in the pool", async () => {
  const chats = await Promise.all(Array.from({ length: 12 }, () => acme.chat()))
  const rename = ({ id }: { id: string }, name: string) =>
    fetch(`${server.url}/api/chats/${id}`, { method: "PATCH", headers: asToken(), body: JSON.stringify({ name }) })
  await using gate = await blockWrites(w, "update on chat", "new.name = 'Held'")
  const held = Promise.all(chats.map((chat) => rename(chat, "Held")))
  // As many as the pool has connections; the others wait for one.
  await gate.waiting(10)
  proxy.reset()
  expect((await held).map(({ status }) => status)).toEqual(chats.map(() => 503))
  await gate.open()
  proxy.pass()
  await readyAgain()
  expect((await Promise.all(chats.map((chat) => rename(chat, "Free")))).map(({ status }) => status)).toEqual(chats.map(() => 200))
})
