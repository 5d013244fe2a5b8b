import { once } from "node:events"
import { v7 } from "uuid"
import { eventCursor, type LoggedEvent } from "../../src/events/logged-event.js"
import { EventBatches } from "../../src/events/transports/event-batches.js"
import { retention } from "../../src/jobs/retention.js"
import { samples, unsigned, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { type Refusal, type SocketIoOptions, socketIo } from "../kit/socket-io.js"
import { emitted, numbers, refused, socketIoStories, texts } from "../kit/socket-io-stories.js"
import { endOfLog, type HeardEvent, subscribe } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, clock } = w
const { connected, refusal, makeToken, jwtOf, writeShort, rawEngine } = socketIoStories(w)

describe("events", () => {
  const ways = (["/", "/ws"] as const).flatMap((namespace) =>
    (["polling", "websocket"] as const).map((transport) => [namespace, transport] as const),
  )

  it.each(ways)("on the namespace %s over %s are those of graphql-ws", async (namespace, transport) => {
    const after = await endOfLog(w)
    const other = await subscribe(w, acme.token, { after })
    const client = await connected(acme.token, { namespace, transport, companyId: acme.id })
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    const { body: file } = await upload(w, acme.token, samples.png, "a.png").expect(201)
    await acme.message({ chatId: chat.id, text: "With a file", mediaIds: [file.id] })
    const [, written] = await client.take(2)
    expect((await fetch(written!.payload.messageMedia[0].media.url)).status).toBe(200)
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false }).expect(200)
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)

    await client.take(2)
    const events = client.heard
    expect(unsigned(events)).toEqual(unsigned(await other.take(4)))
    expect(events.map(({ type }) => type)).toEqual(["CHAT_CREATED", "MESSAGE_CREATED", "CHAT_MODE_CHANGED", "CHAT_DELETED"])
    expect(Object.keys(events[0]!).sort()).toEqual(["createdAt", "id", "payload", "type"])
    expect(events[2]!.payload).toEqual({ chatId: chat.id, isUnderAiControl: false, aiDisableReason: "manual" })
    expect(client.transport()).toBe(transport)
    client.stop()
    await other.stop()
  })

  it("continue over the upgrade from polling to a WebSocket", async () => {
    const chat = await acme.chat()
    const client = await connected(acme.token)
    for (const sequence of numbers(10)) await acme.message({ chatId: chat.id, text: `${sequence}` })
    await until("the client has a WebSocket", () => client.transport() === "websocket")
    await acme.message({ chatId: chat.id, text: "11" })
    expect(texts(await client.take(11))).toEqual(numbers(11).map(String))
    expect(client.transport()).toBe("websocket")
    client.stop()
  })

  promised("of a company come once to a client in both namespaces each, and not to another company", async () => {
    const foreign = await connected(globex.token)
    const first = await connected(acme.token)
    const socket = first.socket.io.socket("/ws", { auth: { token: acme.token } })
    await emitted(socket, "connect")
    const heard: HeardEvent[] = []
    socket.onAny((_name, event) => heard.push(event))
    const [chat, theirs] = [await acme.chat(), await globex.chat()]
    const event = await first.take(1)
    expect((await foreign.take(1))[0]!.payload).toEqual(theirs)
    expect(event[0]!.payload).toEqual(chat)
    await until("the second namespace has the event", () => heard.length > 0)
    expect(heard).toEqual(event)
    // One namespace is left, and the other goes on.
    socket.disconnect()
    await acme.chat()
    await first.take(1)
    expect([foreign.heard.length, first.heard.length, heard.length]).toEqual([1, 2, 1])
    foreign.stop()
    first.stop()
  })

  promised("that many sockets get at the same time are encoded once, and each socket gets its events in order", async () => {
    const emitted: [string[], string, object][] = []
    const namespace = { to: (ids: string[]) => ({ emit: (type: string, event: object) => emitted.push([ids, type, event]) }) }
    const batches = new EventBatches(namespace as never)
    const event = (id: string) => ({ id, type: "CHAT_UPDATED", payload: {}, createdAt: "2026-01-31T09:15:00.123Z" }) as LoggedEvent
    const [one, two] = [event("1"), event("2")]
    const read = async (socketId: string, events: LoggedEvent[]) => {
      for (const each of events) await batches.send(each, socketId)
    }
    await Promise.all([read("a", [two]), read("b", [one, two]), read("c", [one, two])])
    expect(emitted).toEqual([
      [["a"], "CHAT_UPDATED", two],
      [["b", "c"], "CHAT_UPDATED", one],
      [["b", "c"], "CHAT_UPDATED", two],
    ])
  })
})

describe("a handshake", () => {
  it.each<[string, () => SocketIoOptions]>([
    ["auth.token with an access token", () => ({ auth: { token: acme.token } })],
    ["auth.accessToken with an access token", () => ({ auth: { accessToken: acme.token } })],
    ["auth.token with a JWT", () => ({ auth: { token: acme.member.jwt } })],
    ["auth.accessToken with a JWT and the company", () => ({ auth: { accessToken: acme.member.jwt, companyId: acme.id.toUpperCase() } })],
    ["X-Access-Token over polling", () => ({ auth: {}, headers: { "X-Access-Token": acme.token }, transport: "polling" })],
    ["X-Access-Token over a WebSocket", () => ({ auth: {}, headers: { "X-Access-Token": acme.token }, transport: "websocket" })],
    ["X-Access-Token and the company", () => ({ auth: { companyId: acme.id }, headers: { "X-Access-Token": acme.token } })],
    ["Authorization", () => ({ auth: {}, headers: { Authorization: `Bearer ${acme.member.jwt}` } })],
  ])("takes %s", async (_name, options) => {
    const client = await connected(null, options())
    await acme.chat()
    await client.take(1)
    client.stop()
  })

  it("with no, mistyped, unknown, revoked or expired credentials is 401", async () => {
    const { value, revoke } = await makeToken()
    await revoke()
    const expired = jwtOf(acme.owner, new Date(Date.now() - 61_000))
    for (const credential of [
      null,
      "amp_mistyped",
      "two words",
      value,
      "no.such.jwt",
      `${acme.owner.jwt}x`,
      acme.owner.refreshToken,
      expired,
    ])
      expect({ credential, refusal: await refusal(credential) }).toEqual({ credential, refusal: refused(401, "UNAUTHENTICATED") })
    expect(await refusal(null, { transport: "polling", namespace: "/ws" })).toEqual(refused(401, "UNAUTHENTICATED"))
    expect(await refusal(null, { auth: { token: { a: 1 }, accessToken: 7 } })).toEqual(refused(401, "UNAUTHENTICATED"))
  })

  it("for a company out of reach is 403, for a malformed one 400", async () => {
    for (const credential of [acme.token, acme.owner.jwt]) {
      for (const companyId of [globex.id, v7()]) expect(await refusal(credential, { companyId })).toEqual(refused(403, "FORBIDDEN"))
      for (const companyId of ["malformed", 7, {}]) expect(await refusal(credential, { companyId })).toEqual(refused(400, "BAD_USER_INPUT"))
    }
  })

  it("with a JWT names the company when there are several", async () => {
    const person = await acme.person("member", await globex.person())
    expect(await refusal(person.jwt)).toEqual(refused(400, "BAD_USER_INPUT"))
    const client = await connected(person.jwt, { companyId: globex.id })
    await acme.chat()
    const theirs = await globex.chat()
    expect((await client.take(1))[0]!.payload).toEqual(theirs)
    client.stop()
    await w.sql("delete from member where user_id = $1", [person.id])
    expect(await refusal(person.jwt)).toEqual(refused(403, "FORBIDDEN"))
  })

  it("with a visitor's token is 403: the contract gives it GraphQL alone", async () => {
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
    expect(await refusal(body.visitorToken)).toEqual(refused(403, "FORBIDDEN"))
    expect(await refusal(body.visitorToken, { companyId: acme.id })).toEqual(refused(403, "FORBIDDEN"))
  })

  it("at an unknown namespace is refused", async () => {
    const { message } = (await refusal(acme.token, { namespace: "/nothing" as "/" })) as Refusal
    expect(message).toBe("Invalid namespace")
  })

  it("may be refused on one namespace and accepted on the other", async () => {
    const client = await connected(acme.token)
    const socket = client.socket.io.socket("/ws", { auth: { token: "amp_mistyped" } })
    const error = await emitted(socket, "connect_error")
    expect(error.data).toEqual({ statusCode: 401, code: "UNAUTHENTICATED" })
    await acme.chat()
    await client.take(1)
    client.stop()
  })

  it("that the database cannot answer is tried again by the client", async () => {
    const away = jest.spyOn(w.services, "eventStream").mockRejectedValueOnce(new Error("Connection terminated unexpectedly"))
    const client = await connected(acme.token, { returns: true })
    expect(away).toHaveBeenCalledTimes(2)
    away.mockRestore()
    await acme.chat()
    await client.take(1)
    client.stop()
  })

  it("ends like an unopened connection when no namespace follows", async () => {
    const socket = await rawEngine()
    const [code] = await happens("the socket without a handshake is closed", once(socket, "close"))
    expect(code).toBe(1005)
  })
})

describe("join", () => {
  promised("acknowledges the own company without a second copy, and refuses others", async () => {
    const client = await connected(acme.member.jwt)
    const join = (...given: unknown[]) => client.socket.emitWithAck("join", ...given)
    for (const given of [[acme.id], [acme.id.toUpperCase()], [{ companyId: acme.id }], []])
      expect(await join(...given)).toEqual({ ok: true })
    for (const given of [globex.id, v7(), { companyId: globex.id }])
      expect(await join(given)).toEqual({ statusCode: 403, code: "FORBIDDEN" })
    for (const given of ["malformed", 7, { companyId: [] }]) expect(await join(given)).toEqual({ statusCode: 400, code: "BAD_USER_INPUT" })
    client.socket.emit("join", acme.id)
    client.socket.emit("unknown", acme.id)
    const chat = await acme.chat()
    await acme.message({ chatId: chat.id })
    await client.take(2)
    expect(client.heard.map(({ type }) => type)).toEqual(["CHAT_CREATED", "MESSAGE_CREATED"])
    client.stop()
  })
})

describe("lastEventId", () => {
  it.each(["x", "ZTp4", eventCursor("-1"), "e:1", 7, {}, ["a"]])("%j is no cursor", async (lastEventId) => {
    expect(await refusal(acme.token, { lastEventId })).toEqual(refused(400, "BAD_USER_INPUT"))
  })

  it.each(["", null])("%j begins with new events", async (lastEventId) => {
    await acme.chat({ name: "Past" })
    await endOfLog(w)
    const client = await connected(acme.token, { lastEventId })
    await acme.chat({ name: "Live" })
    expect((await client.take(1))[0]!.payload.name).toBe("Live")
    client.stop()
  })

  it("older or newer than the log is RESYNC_REQUIRED", async () => {
    const old = await endOfLog(w)
    await acme.chat()
    await endOfLog(w)
    clock.advance(25 * 60 * 60 * 1000)
    await w.sql("update event set created_at = created_at - interval '25 hours'")
    await retention.run(w.services)
    expect(await refusal(acme.token, { lastEventId: old })).toEqual(refused(410, "RESYNC_REQUIRED"))
    expect(await refusal(acme.token, { lastEventId: eventCursor("9".repeat(18)) })).toEqual(refused(410, "RESYNC_REQUIRED"))
    clock.reset()
  })

  it.each(["polling", "websocket"] as const)(
    "delivers everything missed, in several reads of the log, and then goes on live: %s",
    async (transport) => {
      const chat = await acme.chat()
      const lastEventId = await endOfLog(w)
      await writeShort(chat.id, 1_200)
      const client = await connected(acme.token, { transport, lastEventId })
      await writeShort(chat.id, 100)
      expect((await client.take(1_300)).map(({ payload }) => payload.sequence)).toEqual(numbers(1_300))
      client.stop()
    },
  )

  promised("lets a client that is cut off 20 times, on two instances, receive each event once and in order", async () => {
    const other = await w.another()
    const chats = await Promise.all([1, 2, 3, 4].map(() => acme.chat()))
    const after = await endOfLog(w)
    const write = async (chatId: string) => {
      for (let count = 0; count < 100; count++) await acme.message({ chatId, text: `${count}` })
    }
    const written = Promise.all(chats.map(({ id }) => write(id)))
    const heard: HeardEvent[] = []
    let cuts = 0
    while (heard.length < 400) {
      const until = Math.min(400, heard.length + 1 + (cuts % 3) * 15)
      const client = await socketIo(w, acme.token, {
        url: cuts % 2 ? w.url : other.url,
        namespace: cuts % 3 ? "/" : "/ws",
        ...(cuts % 4 < 3 && { transport: cuts % 4 ? "websocket" : "polling" }),
        lastEventId: heard.at(-1)?.id ?? after,
      })
      // What comes after the last processed event is lost with the connection.
      heard.push(...(await client.take(until - heard.length)))
      client.socket.io.engine.close()
      client.stop()
      cuts++
    }
    await written
    expect(cuts).toBeGreaterThanOrEqual(20)
    const rows = await w.sql("select position from event where company_id = $1 order by position desc limit 400", [acme.id])
    expect(heard.map(({ id }) => id)).toEqual(rows.map(({ position }) => eventCursor(position)).reverse())
    for (const { id } of chats) {
      const sequences = heard.filter(({ payload }) => payload.chatId === id).map(({ payload }) => payload.sequence)
      expect(sequences).toEqual(numbers(100))
    }
    await other.stop()
  })
})
