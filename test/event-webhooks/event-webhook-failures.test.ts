import { webhookStories } from "../kit/event-webhooks.js"
import { scraped } from "../kit/metrics.js"
import { type Mode, type Receiver } from "../kit/receiver.js"
import { subscribe } from "../kit/sockets.js"
import { stopScheduler } from "../kit/turns.js"

const { w, time, endpoint, hooks } = await webhookStories()
const { acme, rest, sql } = w

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
/** The pauses of the contract; jitter adds up to a fifth. */
const pauses = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

const textsOf = ({ requests }: Receiver) => requests.map(({ body }) => JSON.parse(String(body)).payload.text)
async function say(chat: { id: string }, ...texts: string[]) {
  for (const text of texts) await acme.message({ chatId: chat.id, text })
}

/** Passes the pause before the next attempt, and sends. */
async function nextAttempt(pauseMs: number) {
  time.pass(pauseMs * 1.2)
  await hooks.send()
}

describe("an endpoint that fails", () => {
  it("gets each event again by the schedule, with the same id and a new timestamp, ten times in all", async () => {
    const made = await hooks.create(endpoint)
    endpoint.answer(503)
    await say(await acme.chat(), "Hello")
    await hooks.send()
    for (const [index, pause] of pauses.entries()) {
      const [{ nextAttemptAt, status, attempts }] = await hooks.deliveries(made)
      expect([status, attempts.length]).toEqual(["pending", index + 1])
      const wait = Date.parse(nextAttemptAt) - time.now()
      expect(wait).toBeGreaterThanOrEqual(pause)
      expect(wait).toBeLessThanOrEqual(pause * 1.2)
      time.pass(wait - 1)
      await hooks.send()
      expect(endpoint.requests).toHaveLength(index + 1)
      time.pass(1)
      await hooks.send()
    }
    expect(endpoint.requests).toHaveLength(10)
    const [{ status, nextAttemptAt, attempts }] = await hooks.deliveries(made)
    expect([status, nextAttemptAt, attempts.length]).toEqual(["failed", null, 10])
    expect(new Set(endpoint.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
    expect(new Set(endpoint.requests.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10)
    for (const { attemptedAt } of attempts.slice(-1)) time.pass(Date.parse(attemptedAt) - time.now())
    expect(hooks.verified(endpoint.requests.at(-1)!, made.secret).payload.text).toBe("Hello")
  })

  it("for a day gets every event afterwards, and is no longer failing", async () => {
    const made = await hooks.create(endpoint)
    endpoint.answer("reset")
    const chat = await acme.chat()
    await say(chat, "one", "two")
    await hooks.send()
    const since = (await hooks.look(made)).failingSince
    expect(Date.parse(since)).toBe(time.now())
    time.pass(day / 2)
    await say(chat, "three")
    await hooks.send()
    expect((await hooks.look(made)).failingSince).toBe(since)
    expect(endpoint.requests).toHaveLength(5)
    endpoint.requests.length = 0
    endpoint.answer(200)
    await nextAttempt(day / 2)
    expect(textsOf(endpoint).sort()).toEqual(["one", "three", "two"])
    for (const request of endpoint.requests) hooks.verified(request, made.secret)
    const deliveries = await hooks.deliveries(made)
    expect(deliveries.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"])
    expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(
      new Set(endpoint.requests.map(({ headers }) => headers["webhook-id"])),
    )
    expect(await hooks.look(made)).toMatchObject({ failingSince: null, disabled: false })
  })

  it.each<[string, Mode, object]>([
    ["redirects", "redirect", { responseStatus: 302, error: "The endpoint answered with status 302" }],
    [
      "closes the connection",
      "reset",
      { responseStatus: null, responseBody: null, error: "The connection was closed before an answer came" },
    ],
    ["answers with a large body", { status: 500, json: "é".repeat(9_000) }, { responseBody: `"${"é".repeat(2_047)}` }],
    ["answers with NUL", { status: 400, raw: "a\u0000b" }, { responseBody: "ab", responseStatus: 400 }],
  ])("and %s is tried again, with a log entry", async (_name, answer, attempt) => {
    const made = await hooks.create(endpoint)
    endpoint.answer(answer)
    await say(await acme.chat(), "Hello")
    await hooks.send()
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "pending", attempts: [attempt] }])
    expect(endpoint.requests).toHaveLength(1)
  })

  it("that asks for a later retry gets it, at most a day later", async () => {
    const made = await hooks.create(endpoint)
    const chat = await acme.chat()
    const waits = []
    for (const [status, retryAfter] of [
      [429, "90"],
      [503, "7200000"],
      [500, "90"],
      [429, "1"],
    ] as const) {
      endpoint.answer({ status, json: null, headers: { "Retry-After": retryAfter } })
      await say(chat, "Hello")
      await hooks.send()
      const { nextAttemptAt } = (await hooks.deliveries(made)).at(-1)
      waits.push(Math.round((Date.parse(nextAttemptAt) - time.now()) / second))
      // Only the attempts of new events count.
      await sql("delete from event_delivery")
    }
    expect(waits).toEqual([90, 86_400, expect.any(Number), expect.any(Number)])
    for (const wait of waits.slice(2)) expect([5, 6]).toContain(wait)
  })

  it("gets one request at a time after five failures in a row, and several after a success", async () => {
    await hooks.create(endpoint)
    const held: ((mode: Mode) => void)[] = []
    endpoint.answer(() => new Promise((answer) => held.push(answer)))
    await say(await acme.chat(), "1", "2", "3", "4", "5", "6", "7", "8")
    const sent = hooks.send()
    await endpoint.arrived(5)
    for (const answer of held.splice(0)) answer(500)
    await endpoint.arrived(6)
    expect(held).toHaveLength(1)
    held.shift()!(200)
    await endpoint.arrived(8)
    expect(held).toHaveLength(2)
    for (const answer of held) answer(200)
    await sent
    expect(endpoint.requests).toHaveLength(8)
  })

  it("at an address that is not public is not called", async () => {
    const guarded = await w.another({ ALLOW_PRIVATE_NETWORK: "false" })
    await stopScheduler(guarded)
    const made = await hooks.create(endpoint)
    await say(await acme.chat(), "Hello")
    await hooks.send(guarded.services)
    expect(await hooks.deliveries(made)).toMatchObject([
      { status: "pending", attempts: [{ responseStatus: null, error: "The address is not on the public internet" }] },
    ])
    expect(endpoint.requests).toEqual([])
    await guarded.stop()
  })
})

it("the metrics count endpoints that work, that fail, and that the server disabled", async () => {
  const states = async () => Object.fromEntries(await scraped(w, "platform_event_webhooks"))
  const counts = (working: number, failing: number, disabled: number) => ({
    '{state="working"}': working,
    '{state="failing"}': failing,
    '{state="disabled"}': disabled,
  })
  const made = await hooks.create(endpoint)
  const byPerson = await hooks.create(`${endpoint.url}/other`)
  expect(await states()).toEqual(counts(2, 0, 0))
  // It is not counted: that is what somebody wanted.
  await hooks.change(byPerson, { disabled: true })
  endpoint.answer(500)
  await say(await acme.chat(), "one")
  await hooks.send()
  expect(await states()).toEqual(counts(0, 1, 0))
  endpoint.answer(410)
  await nextAttempt(5 * second)
  expect(await states()).toEqual(counts(0, 0, 1))
  await hooks.change(made, { disabled: false })
  expect(await states()).toEqual(counts(1, 0, 0))
})

describe("an endpoint is disabled", () => {
  const disabledEvents = async (work: () => Promise<void>) => {
    const live = await subscribe(w, acme.token, { types: ["EVENT_WEBHOOK_DISABLED"] })
    await work()
    const event = await live.next()
    await live.stop()
    return event
  }

  it("at once by status 410, with a reason, an event and a log line; what waited is sent when it is enabled", async () => {
    const made = await hooks.create(endpoint, { types: ["MESSAGE_CREATED", "EVENT_WEBHOOK_DISABLED"] })
    const other = await hooks.create(`${endpoint.url}/other`, { types: ["EVENT_WEBHOOK_DISABLED"] })
    const chat = await acme.chat()
    await say(chat, "one")
    endpoint.answer(({ url }) => (url === "/" ? 410 : 200))
    const event = await disabledEvents(() => hooks.send())
    const reason = "The endpoint answered with status 410 (Gone)"
    const shown = await hooks.look(made)
    expect(shown).toMatchObject({ disabled: true, disabledReason: reason, failingSince: expect.any(String) })
    expect(event.payload).toEqual({ webhookId: made.id, url: made.url, disabledReason: reason, disabledAt: shown.updatedAt })
    expect(w.logged.at(-1)).toMatchObject({ webhookId: made.id, reason, msg: "an endpoint for events was disabled" })
    const [entry] = await sql("select * from audit_entry where subject_id = $1 order by created_at desc, id desc limit 1", [made.id])
    expect(entry).toMatchObject({ actor_kind: "SYSTEM", action: "send-events" })
    expect([...entry.changed].sort()).toEqual(["disabled", "disabledReason"])

    await say(chat, "two")
    endpoint.requests.length = 0
    endpoint.answer(200)
    await nextAttempt(day)
    expect(endpoint.requests.map(({ url }) => url)).toEqual(["/other"])
    expect(hooks.verified(endpoint.requests[0]!, other.secret).payload).toEqual(event.payload)
    expect(await hooks.deliveries(made)).toMatchObject([{ status: "pending", nextAttemptAt: expect.any(String) }])
    expect(await hooks.change(made, { disabled: false })).toMatchObject({ disabled: false, disabledReason: null, failingSince: null })
    endpoint.requests.length = 0
    await hooks.send()
    expect(textsOf(endpoint)).toEqual(["one"])
    await say(chat, "three")
    await hooks.send()
    expect(textsOf(endpoint)).toEqual(["one", "three"])

    // The gap is closed by a redelivery of the time range.
    const range = { since: new Date(time.now() - 2 * day).toISOString(), onlyFailed: true }
    const { body } = await rest.as(acme.token).post(`${hooks.path}/${made.id}/redeliver`, range).expect(201)
    await hooks.send()
    expect(textsOf(endpoint)).toEqual(expect.arrayContaining(["one", "three", "two"]))
    expect(body.count).toBe(endpoint.requests.length - 2)
  })

  it("when an attempt fails five days after the first failure", async () => {
    const made = await hooks.create(endpoint)
    endpoint.answer(500)
    const chat = await acme.chat()
    await say(chat, "one")
    await hooks.send()
    const { failingSince } = await hooks.look(made)
    time.pass(5 * day - 1)
    await say(chat, "two")
    await hooks.send()
    expect(await hooks.look(made)).toMatchObject({ disabled: false, failingSince })
    time.pass(1)
    await say(chat, "three")
    const event = await disabledEvents(() => hooks.send())
    expect(event.payload).toMatchObject({ webhookId: made.id, disabledReason: "Every attempt failed for 5 days" })
    expect(await hooks.look(made)).toMatchObject({ disabled: true, disabledReason: "Every attempt failed for 5 days", failingSince })
  })

  it("by a person, without a reason and without an event; it gets no deliveries meanwhile", async () => {
    const made = await hooks.create(endpoint)
    await hooks.create(`${endpoint.url}/other`)
    expect(await hooks.change(made, { disabled: true })).toMatchObject({ disabled: true, disabledReason: null })
    await say(await acme.chat(), "one")
    await hooks.send()
    expect(endpoint.requests.map(({ url }) => url)).toEqual(["/other"])
    expect(await hooks.deliveries(made)).toEqual([])
    expect(await sql("select 1 from event where type = 'EVENT_WEBHOOK_DISABLED' and payload::text like $1", [`%${made.id}%`])).toEqual([])
    const [path, since] = [`${hooks.path}/${made.id}`, new Date(time.now() - day).toISOString()]
    await rest.as(acme.token).post(`${path}/redeliver`, { since }).expect(400)
    await hooks.change(made, { disabled: false })
    const before = new Date(time.now() - day / 2).toISOString()
    expect((await rest.as(acme.token).post(`${path}/redeliver`, { since, until: before }).expect(201)).body).toEqual({ count: 0 })
    await rest.as(acme.token).post(`${path}/redeliver`, { since: before, until: since }).expect(400)
    expect((await rest.as(acme.token).post(`${path}/redeliver`, { since }).expect(201)).body.count).toBeGreaterThan(0)
    await hooks.send()
    expect(textsOf(endpoint)).toContain("one")
  })
})
