import type { Services } from "../../src/context/services.js"
import { retention } from "../../src/jobs/retention.js"
import { sendEvents } from "../../src/jobs/send-events.js"
import { eventWebhooks, webhookStories } from "../kit/event-webhooks.js"
import { samples, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { type Mode, type Received, receiver } from "../kit/receiver.js"
import { endOfLog } from "../kit/sockets.js"
import { openTransaction } from "../kit/transaction.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"

const { w, time, endpoint, hooks } = await webhookStories()
const { acme, globex, rest, sql } = w

afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const day = 86_400_000
const textOf = ({ body }: Received) => JSON.parse(String(body)).payload.text
const texts = () => endpoint.requests.map(textOf)
async function say(chat: { id: string }, ...all: string[]) {
  for (const text of all) await acme.message({ chatId: chat.id, text })
}

/** Holds every request; answered by the text of its message. */
function hold() {
  const held = new Map<string, (mode: Mode) => void>()
  endpoint.answer((request) => new Promise((answer) => held.set(`${request.url} ${textOf(request)}`, answer)))
  return held
}

it("an endpoint that is deleted while deliveries are made has none, and the others have theirs", async () => {
  const [gone, kept] = [await hooks.create(endpoint), await hooks.create(endpoint)]
  const chat = await acme.chat()
  await using deletion = await openTransaction(w.databaseUrl)
  await deletion.query("delete from event_webhook where id = $1", [gone.id])
  await say(chat, "Hello")
  const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await until("the fan-out waits for the endpoint's row", async () => (await sql(waits)).length > 0)
  await deletion.commit()
  await hooks.send()
  expect(await hooks.deliveries(kept)).toMatchObject([{ status: "succeeded" }])
  expect(await sql("select 1 from event_delivery where webhook_id = $1", [gone.id])).toEqual([])
})

describe("order", () => {
  promised("first attempts start in the order of the log, and a retry keeps back nothing", async () => {
    await hooks.create(endpoint)
    const chat = await acme.chat()
    const held = hold()
    await say(chat, "1", "2", "3", "4", "5", "6", "7")
    const sent = hooks.send()
    await endpoint.arrived(5)
    expect(texts().sort()).toEqual(["1", "2", "3", "4", "5"])
    held.get("/ 1")!(500)
    await endpoint.arrived(6)
    held.get("/ 4")!(200)
    await endpoint.arrived(7)
    expect(texts().slice(5)).toEqual(["6", "7"])
    for (const answer of held.values()) answer(200)
    await sent
    expect(endpoint.requests).toHaveLength(7)
  })

  promised("with ordered: an event of a chat waits for the one before, also for its retries; other chats do not", async () => {
    const made = await hooks.create(endpoint, { ordered: true })
    const [one, other] = [await acme.chat(), await acme.chat()]
    endpoint.answer((request) => (textOf(request) === "a1" ? 500 : 200))
    await say(one, "a1", "a2", "a3")
    await say(other, "b1", "b2")
    await hooks.send()
    expect(texts().filter((text) => text.startsWith("a"))).toEqual(["a1"])
    expect(texts().filter((text) => text.startsWith("b"))).toEqual(["b1", "b2"])
    await say(one, "a4")
    await hooks.send()
    expect(endpoint.requests).toHaveLength(3)
    endpoint.answer(200)
    time.pass(6_000)
    await hooks.send()
    expect(texts().filter((text) => text.startsWith("a"))).toEqual(["a1", "a1", "a2", "a3", "a4"])
    expect((await hooks.deliveries(made)).map(({ status }) => status)).toEqual(Array(6).fill("succeeded"))
  })

  promised("with ordered: one request of a chat is under way at a time", async () => {
    await hooks.create(endpoint, { ordered: true })
    const [one, other] = [await acme.chat(), await acme.chat()]
    const held = hold()
    await say(one, "a1", "a2")
    await say(other, "b1", "b2")
    const sent = hooks.send()
    await endpoint.arrived(2)
    expect(texts().sort()).toEqual(["a1", "b1"])
    held.get("/ b1")!(200)
    await endpoint.arrived(3)
    expect(texts()[2]).toBe("b2")
    held.get("/ a1")!(200)
    await endpoint.arrived(4)
    for (const answer of held.values()) answer(200)
    await sent
  })
})

describe("a slow endpoint", () => {
  it("delays no other of its company, and none of another", async () => {
    const slow = await receiver()
    const answers: ((mode: Mode) => void)[] = []
    slow.answer(() => new Promise((answer) => answers.push(answer)))
    const theirs = eventWebhooks(w, globex)
    await hooks.create(slow)
    await hooks.create(`${slow.url}/too`)
    await hooks.create(endpoint)
    await theirs.create(`${endpoint.url}/globex`)
    const [chat, foreign] = [await acme.chat(), await globex.chat()]
    await say(chat, ...Array.from({ length: 12 }, (_, index) => String(index)))
    await globex.message({ chatId: foreign.id })
    const sent = hooks.send()
    await endpoint.arrived(13)
    // Each slow endpoint has as many requests as it may have.
    await slow.arrived(10)
    expect(slow.requests).toHaveLength(10)
    // An event that comes now is sent to the slow endpoint when it has answered, to the other at once.
    await say(chat, "later")
    await hooks.fannedOut()
    await until("the quick endpoint has the event", async () => {
      await sendEvents.sweep.run(w.services)
      return endpoint.requests.length === 14
    })
    slow.answer(200)
    for (const answer of answers) answer(200)
    await sent
    // On a machine that is busy its turn may have ended.
    await hooks.send()
    expect(slow.requests).toHaveLength(26)
    await slow.close()
  })
})

describe("redelivery", () => {
  it("sends an event again with the same id, whatever its state, and refuses a disabled endpoint", async () => {
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "Hello")
    await hooks.send()
    const [delivery] = await hooks.deliveries(made)
    const path = `${hooks.path}/${made.id}/deliveries/${delivery.id}/redeliver`
    const { body: again } = await rest.as(acme.token).post(path).expect(201)
    expect(again).toMatchObject({
      id: delivery.id,
      status: "succeeded",
      payload: { text: "Hello" },
      nextAttemptAt: new Date(time.now()).toISOString(),
    })
    await hooks.send()
    const [first, second] = endpoint.requests
    expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"])
    expect(hooks.verified(second!, made.secret)).toEqual(hooks.verified(first!, made.secret))
    // One that fails does not undo a success.
    endpoint.answer(500)
    await rest.as(acme.token).post(path).expect(201)
    await hooks.send()
    const [{ status, attempts, nextAttemptAt }] = await hooks.deliveries(made)
    expect([status, attempts.length, nextAttemptAt]).toEqual(["succeeded", 3, null])
    await hooks.change(made, { disabled: true })
    await rest.as(acme.token).post(path).expect(400)
    const another = await hooks.create(endpoint)
    await rest.as(acme.token).post(`${hooks.path}/${another.id}/deliveries/${delivery.id}/redeliver`).expect(404)
  })

  it("of a pending event leaves its schedule; a success ends it", async () => {
    const made = await hooks.create(endpoint)
    endpoint.answer(500)
    await say(await acme.chat(), "Hello")
    await hooks.send()
    const [before] = await hooks.deliveries(made)
    time.pass(1_000)
    const path = `${hooks.path}/${made.id}/deliveries/${before.id}/redeliver`
    await rest.as(acme.token).post(path).expect(201)
    await hooks.send()
    const [after] = await hooks.deliveries(made)
    expect(after).toMatchObject({ status: "pending", nextAttemptAt: before.nextAttemptAt })
    expect(after.attempts).toHaveLength(2)
    endpoint.answer(200)
    await rest.as(acme.token).post(path).expect(201)
    await hooks.send()
    time.pass(day)
    await hooks.send()
    expect(endpoint.requests).toHaveLength(3)
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "succeeded", nextAttemptAt: null }])
  })

  it("of a time range sends what was in it, all or what has failed, and answers how many", async () => {
    const made = await hooks.create(endpoint)
    const chat = await acme.chat()
    endpoint.answer((request) => (textOf(request) === "failing" ? 500 : 200))
    await say(chat, "early")
    time.pass(60_000)
    const since = new Date(time.now()).toISOString()
    await say(chat, "failing", "fine")
    time.pass(60_000)
    const until_ = new Date(time.now()).toISOString()
    await say(chat, "late")
    await hooks.send()
    for (let attempt = 0; attempt < 9; attempt += 1) {
      // Each pause of the schedule is at most a day, and a fifth.
      time.pass(1.2 * day - 1)
      await sql("update event_webhook set failing_since = null")
      await hooks.send()
    }
    const failed = (await hooks.deliveries(made)).filter(({ status }) => status === "failed")
    expect(failed).toHaveLength(1)
    endpoint.requests.length = 0
    endpoint.answer(200)
    const redeliver = async (range: object) =>
      (await rest.as(acme.token).post(`${hooks.path}/${made.id}/redeliver`, range).expect(201)).body
    expect(await redeliver({ since, until: until_, onlyFailed: true })).toEqual({ count: 1 })
    await hooks.send()
    expect(texts()).toEqual(["failing"])
    expect(await redeliver({ since, until: until_ })).toEqual({ count: 2 })
    await hooks.send()
    expect(texts().slice(1).sort()).toEqual(["failing", "fine"])
    expect(await redeliver({ since })).toEqual({ count: 3 })
    await hooks.send()
    expect((await hooks.deliveries(made)).map(({ status }) => status)).toEqual(Array(4).fill("succeeded"))
  })
})

describe("instances", () => {
  promised("share the work: each event is sent once, though both make deliveries and both send", async () => {
    const second = await w.another()
    await stopScheduler(second)
    await hooks.create(endpoint)
    const chat = await acme.chat()
    await Promise.all(Array.from({ length: 30 }, (_, index) => acme.message({ chatId: chat.id, text: String(index) })))
    await hooks.fannedOut()
    const both: Services[] = [w.services, second.services]
    await Promise.all(both.map((services) => hooks.send(services)))
    await Promise.all(both.map((services) => hooks.send(services)))
    expect(texts().sort()).toEqual(Array.from({ length: 30 }, (_, index) => String(index)).sort())
    await second.stop()
  })

  promised("an attempt whose outcome was lost with its instance is made again, with the same id", async () => {
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "Hello")
    await hooks.fannedOut()
    // The state that a crash leaves after the request and before its result: the lease runs out, and nothing is recorded.
    await sql("update event_webhook set sending_id = gen_random_uuid(), sending_due_at = null, sending_lease_until = $1 where id = $2", [
      new Date(time.now() + 20_000),
      made.id,
    ])
    await hooks.send()
    expect(endpoint.requests).toEqual([])
    time.pass(20_000)
    await hooks.send()
    expect(texts()).toEqual(["Hello"])
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "succeeded" }])
  })

  promised("that lost the endpoint during a request records nothing, and the event is sent again", async () => {
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "Hello")
    const held = hold()
    const sent = hooks.send()
    await endpoint.arrived(1)
    await sql("update event_webhook set sending_lease_until = $1 where id = $2", [new Date(time.now()), made.id])
    const second = await w.another()
    await stopScheduler(second)
    const again = hooks.send(second.services)
    await endpoint.arrived(2)
    const [one, two] = endpoint.requests
    expect(two!.headers["webhook-id"]).toBe(one!.headers["webhook-id"])
    for (const answer of held.values()) answer(200)
    await again
    await second.stop()
    await sent
    const [{ attempts }] = await hooks.deliveries(made)
    expect(attempts).toHaveLength(1)
  })

  it("that stops gives the endpoint back: the event is sent by another", async () => {
    const first = await w.another()
    await stopScheduler(first)
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "Hello")
    const held = hold()
    const sent = hooks.send(first.services)
    await endpoint.arrived(1)
    await first.stop()
    await sent
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "pending", attempts: [] }])
    const again = hooks.send()
    await endpoint.arrived(2)
    for (const answer of held.values()) answer(200)
    await again
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "succeeded" }])
  })
})

describe("a chat that is deleted", () => {
  it("takes the payloads and answers of its deliveries with it, and what is pending; its end is still told", async () => {
    const made = await hooks.create(endpoint, { types: ["MESSAGE_CREATED", "CHAT_DELETED"] })
    const [gone, kept] = [await acme.chat(), await acme.chat()]
    time.pass(1)
    const since = new Date(time.now()).toISOString()
    endpoint.answer((request) => (textOf(request) === "secret and failing" ? { status: 500, json: "thanks" } : { json: "thanks" }))
    await say(gone, "secret", "secret and failing")
    await say(kept, "kept")
    await hooks.send()
    await rest.as(acme.token).delete(`/api/chats/${gone.id}`).expect(200)
    const rows = await sql("select d::text as row from event_delivery d")
    expect(rows.filter(({ row }) => row.includes("secret"))).toEqual([])
    expect(rows.filter(({ row }) => row.includes("thanks"))).toHaveLength(1)
    endpoint.requests.length = 0
    time.pass(day)
    await hooks.send()
    expect(endpoint.requests.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
      { type: "CHAT_DELETED", payload: { chatId: gone.id } },
    ])
    const deliveries = await hooks.deliveries(made)
    expect(deliveries.map(({ type, status }) => [type, status])).toEqual([
      ["MESSAGE_CREATED", "succeeded"],
      ["MESSAGE_CREATED", "cancelled"],
      ["MESSAGE_CREATED", "succeeded"],
      ["CHAT_DELETED", "succeeded"],
    ])
    const path = `${hooks.path}/${made.id}`
    await rest.as(acme.token).post(`${path}/deliveries/${deliveries[0].id}/redeliver`).expect(400)
    const { body } = await rest.as(acme.token).post(`${path}/redeliver`, { since }).expect(201)
    expect(body).toEqual({ count: 2 })
  })

  promised("during a request keeps nothing of the answer, and what a crash left is erased by the sweep", async () => {
    const made = await hooks.create(endpoint)
    const [chat, other] = [await acme.chat(), await acme.chat()]
    await say(chat, "Hello")
    const held = hold()
    const sent = hooks.send()
    await endpoint.arrived(1)
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    held.get("/ Hello")!({ json: "answer" })
    await sent
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "cancelled", attempts: [], nextAttemptAt: null }])

    // A crash after the deletion, before anything is erased.
    await say(other, "left")
    await hooks.fannedOut()
    await sql("update event_delivery set chat_id = $1 where chat_id = $2", [chat.id, other.id])
    endpoint.requests.length = 0
    await hooks.send()
    expect(endpoint.requests).toEqual([])
    await retention.run(w.services)
    expect(await sql("select status, snapshot from event_delivery order by position desc limit 1")).toEqual([
      { status: "cancelled", snapshot: null },
    ])
  })
})

describe("retention", () => {
  it("keeps events until the deliveries of them are made, and deliveries for 30 days", async () => {
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "first")
    await hooks.send()
    const stored = async () => (await sql("select 1 from event where payload::text like '%held back%'")).length
    // The reader of another database transaction holds the lock under which deliveries are made.
    await using other = await openTransaction(w.databaseUrl)
    await other.query("select pg_advisory_xact_lock(7304214)")
    await say(await acme.chat(), "held back")
    await endOfLog(w)
    time.pass(2 * day)
    await retention.run(w.services)
    expect(await stored()).toBe(1)
    await other.rollback()
    await hooks.send()
    expect(texts()).toEqual(["first", "held back"])
    await retention.run(w.services)
    expect(await stored()).toBe(0)

    const [{ createdAt }, last] = await hooks.deliveries(made)
    time.pass(Date.parse(createdAt) + 30 * day - time.now())
    await retention.run(w.services)
    expect(await hooks.deliveries(made)).toHaveLength(2)
    time.pass(Date.parse(last.createdAt) - Date.parse(createdAt) + 1)
    await retention.run(w.services)
    expect(await hooks.deliveries(made)).toEqual([])
    // Without an endpoint, nothing reads the log, and nothing keeps it.
    await sql("delete from event_webhook")
    await say(await acme.chat(), "held back")
    await endOfLog(w)
    time.pass(2 * day)
    await retention.run(w.services)
    expect(await stored()).toBe(0)
  })

  it("a new endpoint gets nothing of what was before it", async () => {
    const chat = await acme.chat()
    await say(chat, "before")
    await endOfLog(w)
    await hooks.create(endpoint)
    await say(chat, "after")
    await hooks.send()
    expect(texts()).toEqual(["after"])
  })
})

describe("the payload", () => {
  it("shows files with URLs that are valid at each attempt", async () => {
    await hooks.create(endpoint)
    const { body: file } = await upload(w, acme.token, samples.png, "photo.png").expect(201)
    endpoint.answer(500)
    await acme.message({ chatId: (await acme.chat()).id, mediaIds: [file.id] })
    await hooks.send()
    time.pass(2 * day)
    await hooks.send()
    const urls = endpoint.requests.map(({ body }) => JSON.parse(String(body)).payload.messageMedia[0].media.url)
    expect(urls).toHaveLength(2)
    expect(urls[0]).not.toBe(urls[1])
    expect((await fetch(urls[0])).status).not.toBe(200)
    expect((await fetch(urls[1])).status).toBe(200)
  })
})
