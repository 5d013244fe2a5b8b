import { eventCursor } from "../../src/events/logged-event.js"
import { retention } from "../../src/jobs/retention.js"
import { promised } from "../kit/promise.js"
import { endOfLog, type HeardEvent, rawSocket, subscribe } from "../kit/sockets.js"
import { openTransaction } from "../kit/transaction.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, clock } = w

type Heard = Awaited<ReturnType<typeof subscribe>>

/** The error of a refused subscription. */
const refusal = (heard: Heard) =>
  heard.next().then(
    (event) => event,
    (thrown) => (thrown.errors ?? thrown)[0].extensions,
  )

const told = (events: HeardEvent[]) => events.map(({ type, payload }) => `${type} ${payload.text ?? payload.name ?? ""}`.trim())

describe("after", () => {
  it.each(["x", "ZTp4", eventCursor("-1"), eventCursor("1 "), "e:1", "💥"])("%j is no cursor", async (after) => {
    const outcome = await refusal(await subscribe(w, acme.token, { after }))
    expect(outcome).toMatchObject({ code: "BAD_USER_INPUT", statusCode: 400, details: [{ path: "after" }] })
  })

  it.each(["", null])("%j begins with new events", async (after) => {
    await acme.chat({ name: "Past" })
    await endOfLog(w)
    const heard = await subscribe(w, acme.token, { after })
    const first = heard.next()
    let isHeard = false
    const noted = first.then(() => {
      isHeard = true
    })
    // A subscription has begun when its first event arrives; there is no other signal.
    while (!isHeard) await acme.chat({ name: "Live" })
    await noted
    expect(told([await first])).toEqual(["CHAT_CREATED Live"])
    await heard.stop()
  })

  it.each(["access token", "user"])("begins with what happens after the %s has read eventCursor", async (credential) => {
    const chat = await acme.chat({ name: "Past" })
    await endOfLog(w)
    const token = credential === "user" ? (await acme.person("member")).jwt : acme.token
    const { eventCursor: after } = (await w.gql(token, "{ eventCursor }")).data
    await acme.message({ chatId: chat.id, text: "In between" })
    const heard = await subscribe(w, token, { after, select: "id type createdAt chatId payload" })
    const event = (await heard.next()) as HeardEvent & { chatId: string }
    expect(told([event])).toEqual(["MESSAGE_CREATED In between"])
    expect(event.chatId).toBe(chat.id)
    await heard.stop()
  })

  it("a number beyond any log is refused", async () => {
    for (const number of ["9".repeat(18), "9".repeat(30)]) {
      const { statusCode } = await refusal(await subscribe(w, acme.token, { after: eventCursor(number) }))
      expect([400, 410]).toContain(statusCode)
    }
  })

  it("delivers events of an instance that died before its notification", async () => {
    const heard = await subscribe(w, acme.token, { after: await endOfLog(w) })
    await acme.chat({ name: "Live" })
    await heard.next()
    // What the sequencer writes, without the notification after its commit.
    await w.sql(
      `with log as (update event_log set last_position = last_position + 1 where id = 1 returning last_position)
       insert into event (position, company_id, type, payload, created_at)
       select last_position, $1, 'CHAT_DELETED', '{"value": {"name": "untold"}}', now() from log`,
      [acme.id],
    )
    expect(told([await heard.next()])).toEqual(["CHAT_DELETED untold"])
    await heard.stop()
  })

  promised("replays missed events and continues live, also for events of another instance", async () => {
    const other = await w.another()
    const chat = await acme.chat()
    const after = await endOfLog(w)
    await acme.message({ chatId: chat.id, text: "missed 1" })
    await acme.message({ chatId: chat.id, text: "missed 2" })
    const heards = [await subscribe({ ...w, url: other.url }, acme.token, { after }), await subscribe(w, acme.token, { after })]
    await acme.message({ chatId: chat.id, text: "live" })
    const streams = await Promise.all(heards.map((heard) => heard.take(3)))
    expect(told(streams[0]!)).toEqual(["MESSAGE_CREATED missed 1", "MESSAGE_CREATED missed 2", "MESSAGE_CREATED live"])
    expect(streams[1]).toEqual(streams[0])
    for (const heard of heards) await heard.stop()
    await other.stop()
  })

  promised("an event that took its number first and commits last is not skipped, and is last for all", async () => {
    const after = await endOfLog(w)
    const heard = await subscribe(w, acme.token, { after })
    await using slow = await openTransaction(w.databaseUrl)
    await slow.query(
      `insert into event (company_id, type, payload, created_at) values ($1, 'CHAT_UPDATED', '{"value": {"name": "slow"}}', now())`,
      [acme.id],
    )
    await acme.chat({ name: "fast" })
    const first = await heard.next()
    await slow.commit()
    const second = await heard.next()
    expect(told([first, second])).toEqual(["CHAT_CREATED fast", "CHAT_UPDATED slow"])
    const again = await subscribe(w, acme.token, { after })
    expect(await again.take(2)).toEqual([first, second])
    const behind = await subscribe(w, acme.token, { after: first.id })
    expect(await behind.next()).toEqual(second)
    for (const each of [heard, again, behind]) await each.stop()
  })

  promised("a subscriber that is disconnected 20 times during 500 messages receives each once, in order", async () => {
    const other = await w.another()
    const chats = await Promise.all([1, 2, 3, 4].map(() => acme.chat()))
    let last = await endOfLog(w)
    const write = async (chatId: string) => {
      for (let count = 0; count < 125; count++) await acme.message({ chatId, text: `${count}` })
    }
    const written = Promise.all(chats.map(({ id }) => write(id)))
    const heard: HeardEvent[] = []
    let cuts = 0
    while (heard.length < 500) {
      const until = Math.min(500, heard.length + 1 + (cuts % 3) * 20)
      const socket = await rawSocket(cuts % 2 ? w : { ...w, url: other.url })
      await socket.open(acme.token)
      const query = "subscription ($after: String) { events(after: $after) { id type payload } }"
      let read = 1
      const closed = new Promise<void>((resolve) => {
        socket.socket.on("message", () => {
          // Events after the last processed one are lost with the socket.
          for (; read < socket.heard.length && heard.length < until; read++) {
            const { events } = (socket.heard[read]!.payload as { data: { events: HeardEvent } }).data
            heard.push(events)
            last = events.id
          }
          if (heard.length < until) return
          socket.socket.terminate()
          resolve()
        })
      })
      socket.send({ id: "1", type: "subscribe", payload: { query, variables: { after: last } } })
      await closed
      cuts++
    }
    await written
    expect(cuts).toBeGreaterThanOrEqual(20)
    expect(new Set(heard.map(({ payload }) => payload.id)).size).toBe(500)
    for (const { id } of chats) {
      const sequences = heard.filter(({ payload }) => payload.chatId === id).map(({ payload }) => payload.sequence)
      expect(sequences).toEqual(Array.from({ length: 125 }, (_, index) => index + 1))
    }
    const rows = await w.sql("select position from event where company_id = $1 order by position desc limit 500", [acme.id])
    expect(heard.map(({ id }) => id)).toEqual(rows.map(({ position }) => eventCursor(position)).reverse())
    await other.stop()
  })

  it("older than the log, which keeps 24 hours, is RESYNC_REQUIRED", async () => {
    const after = await endOfLog(w)
    await acme.chat({ name: "Old" })
    const kept = await endOfLog(w)
    clock.advance(23 * 3600 * 1000)
    await retention.run(w.services)
    const heard = await subscribe(w, acme.token, { after })
    expect(told([await heard.next()])).toEqual(["CHAT_CREATED Old"])
    await heard.stop()
    clock.advance(2 * 3600 * 1000)
    await retention.run(w.services)
    expect(await refusal(await subscribe(w, acme.token, { after }))).toMatchObject({ code: "RESYNC_REQUIRED", statusCode: 410 })
    const resumed = await subscribe(w, acme.token, { after: kept })
    await acme.chat({ name: "New" })
    expect(told([await resumed.next()])).toEqual(["CHAT_CREATED New"])
    await resumed.stop()
  })
})
