import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { freePort } from "../kit/free-port.js"
import { scraped } from "../kit/metrics.js"
import { pace } from "../kit/pace.js"
import { promised } from "../kit/promise.js"
import { endOfLog, type HeardEvent, parametersOf, rawSocket, subscribe } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { type World, world } from "../kit/world.js"

/** A standard client that reconnects and resumes; collects this many texts. */
async function follow(w: World, url: string, count: number) {
  const variables = { after: await endOfLog(w) }
  const closes: number[] = []
  const client = createClient({
    url: `${url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(w.acme.token),
    lazy: false,
    retryAttempts: 1_000,
    shouldRetry: () => true,
    // Not a wait: the pause of the client between two attempts.
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 20)),
    on: { closed: (event) => void closes.push((event as { code: number }).code) },
  })
  const query = "subscription ($after: String) { events(after: $after, types: [MESSAGE_CREATED]) { id payload } }"
  const texts: string[] = []
  const all = new Promise<string[]>((resolve, reject) => {
    client.subscribe<{ events: HeardEvent }>(
      { query, variables },
      {
        next({ data }) {
          variables.after = data!.events.id
          if (texts.push(data!.events.payload.text) === count) resolve(texts)
        },
        error: reject,
        complete: () => reject(new Error("It has ended")),
      },
    )
  })
  return { all: () => happens(`the follower has ${count} events`, all, () => texts), closes, stop: () => client.dispose() }
}

const listeners = (w: World) =>
  w.sql("select pid from pg_stat_activity where datname = current_database() and query = 'listen platform_wake_up'")

/** A new access token, and a function with which the company's owner revokes it. */
async function makeToken({ acme, rest }: World) {
  const path = `/api/companies/${acme.id}/access-tokens`
  const { body } = await rest.as(acme.owner.jwt).post(path, { name: "Short-lived" }).expect(201)
  return { value: body.token as string, revoke: () => rest.as(acme.owner.jwt).delete(`${path}/${body.id}`).expect(200) }
}

/** Revokes a token on one instance; returns the close codes of its sockets on both instances, and the delays. */
async function revocation(w: World, other: { url: string }) {
  const { value, revoke } = await makeToken(w)
  const sockets = await Promise.all([w.url, other.url].map((url) => rawSocket({ ...w, url })))
  for (const socket of sockets) expect(await socket.open(value)).toBe("acknowledged")
  await revoke()
  const answered = performance.now()
  const codes = (await Promise.all(sockets.map((socket) => socket.closed()))).map(({ code }) => code)
  return { codes, ms: performance.now() - answered }
}

describe("LISTEN and NOTIFY", () => {
  const w = world()
  const { acme } = w

  promised("a broken LISTEN connection is made again, and no event and no revocation is lost", async () => {
    const other = await w.another()
    const chat = await acme.chat()
    const before = await listeners(w)
    expect(before).toHaveLength(2)
    const followers = [await follow(w, w.url, 30), await follow(w, other.url, 30)]
    const token = await makeToken(w)
    const socket = await rawSocket({ ...w, url: other.url })
    expect(await socket.open(token.value)).toBe("acknowledged")

    for (let count = 0; count < 10; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    const old = before.map(({ pid }) => pid)
    await w.sql("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [old])
    await until(
      "the old listeners are gone",
      async () => (await w.sql("select 1 from pg_stat_activity where pid = any($1)", [old])).length === 0,
    )
    await token.revoke()
    for (let count = 10; count < 20; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    // Written without a listener: the next notification delivers them.
    await until("two listeners are connected", async () => (await listeners(w)).length === 2)
    for (let count = 20; count < 30; count++) await acme.message({ chatId: chat.id, text: `${count}` })

    for (const { all, closes, stop } of followers) {
      expect(await all()).toEqual(Array.from({ length: 30 }, (_, index) => `${index}`))
      expect(closes).toEqual([])
      await stop()
    }
    expect((await socket.closed()).code).toBe(4401)
    expect(await (await rawSocket({ ...w, url: other.url })).open(token.value)).toBe(4401)
    expect((await revocation(w, other)).codes).toEqual([4401, 4401])
    await other.stop()
  })
})

const hasRedis = spawnSync("redis-server", ["--version"]).status === 0
const redisUrl = hasRedis ? `redis://127.0.0.1:${await freePort()}` : ""

;(hasRedis ? describe : describe.skip)(`Redis${hasRedis ? "" : " (skipped: there is no redis-server on this machine)"}`, () => {
  let redis: ChildProcess
  beforeAll(async () => {
    redis = await startRedis(redisUrl)
  })
  const w = world({ REDIS_URL: redisUrl, RATE_LIMIT_PER_MINUTE: "1000", RATE_LIMIT_ANONYMOUS_PER_MINUTE: "20" })
  const { acme } = w
  afterAll(() => stopRedis(redis))

  promised("two instances deliver each other's events, without LISTEN", async () => {
    const other = await w.another()
    expect(await listeners(w)).toEqual([])
    const heard = [await subscribe(w, acme.token), await subscribe({ ...w, url: other.url }, acme.token)]
    const chat = await acme.chat()
    const asToken = { "content-type": "application/json", "x-access-token": acme.token }
    const body = JSON.stringify({ chatId: chat.id, text: "Through the other" })
    expect((await fetch(`${other.url}/api/messages`, { method: "POST", headers: asToken, body })).status).toBe(201)
    for (const each of heard) {
      expect((await each.take(2)).map(({ payload }) => payload.text)).toEqual([undefined, "Through the other"])
      await each.stop()
    }
    await other.stop()
  })

  it("a revoked token loses its sockets on both within a second", async () => {
    const other = await w.another()
    await pace("a revoked token closes its sockets over Redis", 1_000, "ms", async () => {
      const { codes, ms } = await revocation(w, other)
      expect(codes).toEqual([4401, 4401])
      return ms
    })
    await other.stop()
  })

  it("two instances count requests together, per credential and per address, and each alone while Redis is away", async () => {
    const other = await w.another()
    /** The remaining number after a request to an instance. */
    const left = async (url: string, headers: Record<string, string> = { "x-access-token": acme.token }) => {
      const response = await fetch(`${url}/api/chats`, { headers })
      await response.arrayBuffer()
      return [response.status, Number(response.headers.get("x-ratelimit-remaining"))]
    }
    const [, before] = await left(w.url)
    expect([await left(other.url), await left(w.url)]).toEqual([
      [200, before! - 1],
      [200, before! - 2],
    ])
    for (let count = 1; count <= 20; count++) expect(await left([w.url, other.url][count % 2]!, {})).toEqual([401, 20 - count])
    expect(await left(w.url, {})).toEqual([429, 0])
    expect(await left(other.url, {})).toEqual([429, 0])
    await stopRedis(redis)
    const apart = [await left(w.url), await left(other.url), await left(w.url)].map(([status, remaining]) => [status, 1000 - remaining!])
    expect(apart).toEqual([
      [200, 1],
      [200, 1],
      [200, 2],
    ])
    redis = await startRedis(redisUrl)
    await other.stop()
  })

  it("its outage and its return are in the metrics", async () => {
    const isUp = async () => (await scraped(w, "platform_service_up")).get('{service="redis"}')
    const shows = (value: number) => until(`the gauge is ${value}`, async () => (await isUp()) === value, isUp)
    await shows(1)
    await stopRedis(redis)
    await shows(0)
    redis = await startRedis(redisUrl)
    await shows(1)
  })

  promised("an outage of Redis loses no event and refuses no request", async () => {
    const other = await w.another()
    const chat = await acme.chat()
    const followers = [await follow(w, w.url, 20), await follow(w, other.url, 20)]
    await acme.message({ chatId: chat.id, text: "0" })
    const token = await makeToken(w)
    const here = await rawSocket(w)
    expect(await here.open(token.value)).toBe("acknowledged")
    await stopRedis(redis)
    await token.revoke()
    expect((await here.closed()).code).toBe(4401)
    for (let count = 1; count < 10; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    redis = await startRedis(redisUrl)
    for (let count = 10; count < 20; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    for (const { all, stop } of followers) {
      expect(await all()).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
      await stop()
    }
    await other.stop()
  })

  it("a server starts while Redis is away, hears events all the same, and uses Redis when it is back", async () => {
    const chat = await acme.chat()
    await stopRedis(redis)
    const other = await w.another()
    const { all, stop } = await follow(w, other.url, 20)
    for (let count = 0; count < 10; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    redis = await startRedis(redisUrl)
    for (let count = 10; count < 20; count++) await acme.message({ chatId: chat.id, text: `${count}` })
    expect(await all()).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
    await stop()
    const token = await makeToken(w)
    const socket = await rawSocket({ ...w, url: other.url })
    expect(await socket.open(token.value)).toBe("acknowledged")
    await token.revoke()
    expect((await socket.closed()).code).toBe(4401)
    await other.stop()
  })
})

async function startRedis(url: string): Promise<ChildProcess> {
  const { port } = new URL(url)
  const child = spawn("redis-server", ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
  let said = ""
  child.stdout.on("data", (text) => (said += text))
  await until("Redis accepts connections", () => {
    if (child.exitCode !== null) throw new Error(said)
    return said.includes("Ready to accept connections")
  })
  return child
}

async function stopRedis(child: ChildProcess) {
  child.kill("SIGKILL")
  if (child.exitCode === null && child.signalCode === null) await happens("Redis has ended", once(child, "exit"))
}
