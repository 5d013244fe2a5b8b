import { storedSnapshot } from "../../src/database/snapshot.js"
import { eventCursor } from "../../src/events/logged-event.js"
import { promised } from "../kit/promise.js"
import { endOfLog, type HeardEvent, rawSocket, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql, clock } = w
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

type Heard = Awaited<ReturnType<typeof subscribe>>

/** The error of a refused subscription. */
const refusal = (heard: Heard) =>
  heard.next().then(
    (event) => event,
    (thrown) => (thrown.errors ?? thrown)[0].extensions,
  )

const told = (events: HeardEvent[]) => events.map(({ type, payload }) => `${type} ${payload.text ?? payload.name ?? ""}`.trim())

describe("the payload of events", () => {
  it("MESSAGE_CREATED carries the message as REST shows it, the quoted one too", async () => {
    const chat = await acme.chat()
    const heard = await subscribe(w, acme.token, { chatId: chat.id })
    const first = await acme.message({ chatId: chat.id, text: "How are you?", role: "Customer" })
    const answer = await acme.message({ chatId: chat.id, text: "Fine!", replyToMessageId: first.id })

    const events = await heard.take(2)
    expect(events[0]).toEqual({ id: expect.any(String), type: "MESSAGE_CREATED", createdAt: timestamp, payload: first })
    expect(events[1]!.payload).toEqual(answer)
    expect(events[1]!.payload.replyTo).toMatchObject({ id: first.id, text: "How are you?" })
    const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}`).expect(200)
    expect(body.data).toEqual([events[1]!.payload, events[0]!.payload])
    await heard.stop()
  })

  it("CHAT_CREATED and CHAT_UPDATED carry the chat as it was at commit, whatever happens later", async () => {
    const start = await endOfLog(w)
    const chat = await acme.chat({ name: "Ada" })
    const { body: renamed } = await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { name: "Ada L." }).expect(200)
    const assign = "mutation ($id: UUID!, $managerId: UUID) { assignManager(id: $id, managerId: $managerId) { id } }"
    await gql(acme.token, assign, { id: chat.id, managerId: acme.admin.id })
    const { body: managed } = await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)
    await acme.message({ chatId: chat.id })

    const heard = await subscribe(w, acme.token, { chatId: chat.id, after: start })
    const [created, ...updates] = await heard.take(3)
    expect(created).toMatchObject({ type: "CHAT_CREATED", payload: chat })
    expect(updates.map(({ type, payload }) => ({ type, payload }))).toEqual([
      { type: "CHAT_UPDATED", payload: renamed },
      { type: "CHAT_UPDATED", payload: managed },
    ])
    expect(managed).toMatchObject({ name: "Ada L.", managerId: acme.admin.id, lastMessageAt: null })
    await heard.stop()
  })

  it("carries any type with a REST representation", async () => {
    const folder = await acme.folder({ name: "Returns" })
    const heard = await subscribe(w, acme.token)
    const payload = JSON.stringify(storedSnapshot("ChatFolder", folder))
    await w.sql("insert into event (company_id, type, payload, created_at) values ($1, 'CHAT_UPDATED', $2, now())", [acme.id, payload])
    expect((await heard.next()).payload).toEqual(folder)
    await heard.stop()
  })

  it("CHAT_MODE_CHANGED has the state and the reason, null when AI is on; no event without a change", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["CHAT_MODE_CHANGED"] })
    const set = (body: object) => rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, body).expect(200)
    await set({ isUnderAiControl: true })
    await set({ isUnderAiControl: false })
    await set({ isUnderAiControl: false })
    await set({ isUnderAiControl: true })
    await set({ isUnderAiControl: false, aiDisableReason: "auto" })

    const payloads = (await heard.take(3)).map(({ payload }) => payload)
    expect(payloads).toEqual([
      { chatId: chat.id, isUnderAiControl: false, aiDisableReason: "manual" },
      { chatId: chat.id, isUnderAiControl: true, aiDisableReason: null },
      { chatId: chat.id, isUnderAiControl: false, aiDisableReason: "auto" },
    ])
    await heard.stop()
  })

  it("CHAT_MODE_CHANGED reaches all clients when the assistant hands over", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    const heards = await Promise.all(
      [acme.token, acme.member.jwt].map((who) => subscribe(w, who, { chatId: chat.id, types: ["CHAT_MODE_CHANGED"] })),
    )
    await acme.message({ chatId: chat.id, role: "Customer", text: "I want to talk to a human, please" })
    clock.advance(4_000)
    await w.runDue()
    for (const heard of heards) {
      expect((await heard.next()).payload).toEqual({ chatId: chat.id, isUnderAiControl: false, aiDisableReason: "auto" })
      await heard.stop()
    }
  })

  it("CHAT_DELETED has the chat's id, and is its last event", async () => {
    const chat = await acme.chat()
    const heard = await subscribe(w, acme.token, { chatId: chat.id })
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    expect(await heard.next()).toEqual({ id: expect.any(String), type: "CHAT_DELETED", createdAt: timestamp, payload: { chatId: chat.id } })
    await heard.stop()
  })

  it("has its chat at every event of a chat: as it was then, or as it is now; null once it is deleted", async () => {
    const chat = await acme.chat({ name: "Ada" })
    const heard = await subscribe(w, acme.token, { chatId: chat.id, select: "type chat { id name lastMessage { text } }" })
    await acme.message({ chatId: chat.id, text: "Hello" })
    const said = { id: chat.id, name: "Ada", lastMessage: { text: "Hello" } }
    expect(await heard.next()).toEqual({ type: "MESSAGE_CREATED", chat: said })
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false }).expect(200)
    expect(await heard.next()).toEqual({ type: "CHAT_MODE_CHANGED", chat: said })
    await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { name: "Ada L." }).expect(200)
    expect(await heard.next()).toEqual({ type: "CHAT_UPDATED", chat: { ...said, name: "Ada L." } })
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    expect(await heard.next()).toEqual({ type: "CHAT_DELETED", chat: null })
    await heard.stop()
  })

  promised("a rolled back change has no event", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false }).expect(200)
    const heard = await subscribe(w, acme.token)
    await acme.subscription(null)
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: true }).expect(403)
    await acme.subscription("active")
    await acme.message({ chatId: chat.id, text: "Next" })
    expect(told([await heard.next()])).toEqual(["MESSAGE_CREATED Next"])
    await heard.stop()
  })

  it("nested selections are read for every event", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const query = `subscription ($after: String, $id: UUID) { events(after: $after, chatId: $id) {
      type message { text chat { id assistant { name } } } chat { name assistant { name } } } }`
    socket.send({ id: "1", type: "subscribe", payload: { query, variables: { after: await endOfLog(w), id: chat.id } } })
    await acme.message({ chatId: chat.id, text: "Deep" })
    await until(
      "the socket has 2 messages",
      () => socket.heard.length >= 2,
      () => socket.heard,
    )
    await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { name: "Grace" }).expect(200)
    await until(
      "the socket has 3 messages",
      () => socket.heard.length >= 3,
      () => socket.heard,
    )
    const assistant = { name: acme.assistant.name }
    expect(socket.heard.slice(1).map(({ payload }) => payload)).toEqual([
      {
        data: {
          events: { type: "MESSAGE_CREATED", message: { text: "Deep", chat: { id: chat.id, assistant } }, chat: { name: null, assistant } },
        },
      },
      { data: { events: { type: "CHAT_UPDATED", message: null, chat: { name: "Grace", assistant } } } },
    ])
    socket.socket.terminate()
  })
})

describe("the receivers of events", () => {
  promised("a company never receives another's events", async () => {
    const theirs = await globex.chat()
    const ours = await acme.chat()
    const socket = await rawSocket(w)
    await socket.open(acme.owner.jwt)
    const query = "subscription ($after: String) { events(after: $after) { type payload } }"
    socket.send({ id: "all", type: "subscribe", payload: { query, variables: { after: await endOfLog(w) } } })
    await globex.message({ chatId: theirs.id, text: "Secret" })
    await globex.chat({ name: "Secret" })
    await acme.message({ chatId: ours.id, text: "Ours" })
    await until(
      "the socket has 2 messages",
      () => socket.heard.length >= 2,
      () => socket.heard,
    )
    expect(socket.heard.slice(1)).toMatchObject([{ id: "all", type: "next", payload: { data: { events: { payload: { text: "Ours" } } } } }])
    socket.socket.terminate()
  })

  it("companyId selects one company for a user of two, on the subscription or on the connection", async () => {
    const both = await globex.person("member", await acme.person())
    const [here, there] = [await acme.chat(), await globex.chat()]
    const subscriptions = [{}, { companyId: acme.id }, { companyId: globex.id }, { auth: globex.id }]
    const heards = await Promise.all(subscriptions.map((options) => subscribe(w, both.jwt, options)))
    await acme.message({ chatId: here.id, text: "A" })
    await globex.message({ chatId: there.id, text: "G" })
    await acme.message({ chatId: here.id, text: "A2" })
    await globex.message({ chatId: there.id, text: "G2" })

    const texts = async (heard: Heard, count: number) => (await heard.take(count)).map(({ payload }) => payload.text)
    expect(await texts(heards[0]!, 4)).toEqual(["A", "G", "A2", "G2"])
    expect(await texts(heards[1]!, 2)).toEqual(["A", "A2"])
    expect(await texts(heards[2]!, 2)).toEqual(["G", "G2"])
    expect(await texts(heards[3]!, 2)).toEqual(["G", "G2"])
    for (const heard of heards) await heard.stop()
    expect(await refusal(await subscribe(w, acme.token, { companyId: globex.id }))).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
  })

  promised("of a chat that is unknown, deleted or another company's is NOT_FOUND at once", async () => {
    const [foreign, gone] = [await globex.chat(), await acme.chat()]
    await rest.as(acme.token).delete(`/api/chats/${gone.id}`).expect(200)
    const notFound = { code: "NOT_FOUND", statusCode: 404 }
    for (const chatId of [acme.id, foreign.id, gone.id])
      expect(await refusal(await subscribe(w, acme.token, { chatId, after: null }))).toMatchObject(notFound)
    const beginning = eventCursor("0")
    for (const chatId of [acme.id, foreign.id])
      expect(await refusal(await subscribe(w, acme.token, { chatId, after: beginning }))).toMatchObject(notFound)
    // One who resumes hears how it ended, in its own company alone.
    const heard = await subscribe(w, acme.token, { chatId: gone.id, after: beginning })
    expect((await heard.next()).type).toBe("CHAT_DELETED")
    await heard.stop()
    expect(await refusal(await subscribe(w, globex.token, { chatId: gone.id, after: beginning }))).toMatchObject(notFound)
  })

  it("types filters them", async () => {
    const heard = await subscribe(w, acme.token, { types: ["CHAT_CREATED", "CHAT_DELETED"] })
    const chat = await acme.chat({ name: "Eve" })
    await acme.message({ chatId: chat.id })
    await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { name: "Eva" }).expect(200)
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    expect(told(await heard.take(2))).toEqual(["CHAT_CREATED Eve", "CHAT_DELETED"])
    await heard.stop()
  })
})
