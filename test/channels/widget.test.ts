import supertest from "supertest"
import { v7 } from "uuid"
import { contextLimits } from "../../src/context/limits.js"
import { clock } from "../../src/entities/kit/clock.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

// Replies are tested elsewhere: here none is due during the test.
const w = world({ TRUST_PROXY: "on", REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" })
const { acme, globex, rest, gql, sql } = w
const day = 24 * 60 * 60 * 1000

interface Stranger {
  connection?: string
  address?: string
}

/** A visitor writes from an address. */
const visit = (body: object, { connection = acme.widget.id, address = "203.0.113.1" }: Stranger = {}) =>
  rest.as({ "X-Forwarded-For": address }).post(`/hooks/widget/${connection}`, body)
const written = async (body: object, stranger?: Stranger) => (await visit(body, stranger).expect(201)).body

const look = async (id: string) => (await rest.as(acme.token).get(`/api/chats/${id}`).expect(200)).body
const textsOf = async (id: string): Promise<string[]> =>
  (await sql("select text from message where chat_id = $1 order by sequence", [id])).map(({ text }) => text)

/** A second widget of Acme, inserted into its table, since only the command line connects one. */
async function widget(externalId: string, assistantId: string | null = null): Promise<string> {
  const id = v7()
  await sql(
    `insert into channel (id, created_at, updated_at, company_id, messenger, external_id, name, assistant_id)
     values ($1, now(), now(), $2, 'widget', $3, 'Another site', $4)`,
    [id, acme.id, externalId, assistantId],
  )
  return id
}

const messagesQuery = `query ($chatId: UUID!) { messages(chatId: $chatId) { totalCount nodes { role text authorId sources { knowledgeId } } } }`
const readAs = (visitorToken: string, chatId: string) => gql(visitorToken, messagesQuery, { chatId })

describe("a new visitor", () => {
  it("gets a new chat, with the channel's assistant and AI on, and a token for it, without credentials", async () => {
    const answer = await written({ text: " Hello there ", name: " Ann " })
    expect(answer).toEqual({ chatId: expect.any(String), messageId: expect.any(String), visitorToken: expect.any(String) })
    expect(await look(answer.chatId)).toMatchObject({
      companyId: acme.id,
      messenger: "widget",
      fromId: acme.widget.externalId,
      name: "Ann",
      chatType: "private",
      assistantId: acme.assistant.id,
      isUnderAiControl: true,
      unreadCount: 1,
    })
    const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${answer.chatId}`).expect(200)
    expect(body.data).toMatchObject([{ id: answer.messageId, role: "Customer", type: "Text", text: " Hello there ", status: "stored" }])
    const [waits] = await sql("select reply_due_at is not null as waits from chat where id = $1", [answer.chatId])
    expect(waits).toEqual({ waits: true })
    expect(await sql("select type from event where chat_id = $1 order by id", [answer.chatId])).toEqual(
      expect.arrayContaining([{ type: "CHAT_CREATED" }, { type: "MESSAGE_CREATED" }]),
    )
  })

  it("without a token is a new one each time, also with the same text", async () => {
    const first = await written({ text: "Hello" })
    const second = await written({ text: "Hello" })
    expect(second.chatId).not.toBe(first.chatId)
  })

  it.each(["none", "a draft"])("has AI off when the channel's assistant is %s", async (which) => {
    const assistant = which === "none" ? null : await acme.makeAssistant({ isDraft: true })
    const connection = await widget(`site-with-${which}`, assistant?.id)
    const { chatId } = await written({ text: "Hello" }, { connection })
    expect(await look(chatId)).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: null, unreadCount: 1 })
  })
})

describe("a visitor with a token", () => {
  it("continues their own chat, and keeps their first name", async () => {
    const first = await written({ text: "One" })
    const second = await written({ text: "Two", name: "Ann", visitorToken: first.visitorToken })
    const third = await written({ text: "Three", name: "Bea", visitorToken: second.visitorToken }, { address: "198.51.100.7" })
    expect([second.chatId, third.chatId]).toEqual([first.chatId, first.chatId])
    expect(await textsOf(first.chatId)).toEqual(["One", "Two", "Three"])
    expect(await look(first.chatId)).toMatchObject({ name: "Ann", unreadCount: 3 })
  })

  it("hears messages alone, and who answers where it asks for that, without what is not for visitors", async () => {
    const own = await written({ text: "Who is there?" })
    const other = await written({ text: "Nobody else's business" })
    const named = ["MESSAGE_CREATED", "CHAT_MODE_CHANGED", "CHAT_UPDATED"]
    const [usual, asking] = await Promise.all(
      [undefined, named].map((types) => subscribe(w, own.visitorToken, { ...(types && { types }) })),
    )
    const control = (chatId: string) =>
      rest.as(acme.token).patch(`/api/chats/${chatId}/ai-control`, { isUnderAiControl: false }).expect(200)
    await control(other.chatId)
    await control(own.chatId)
    await acme.message({ chatId: own.chatId, text: "I am" })
    const change = await asking!.next()
    expect(change.type).toBe("CHAT_MODE_CHANGED")
    expect(change.payload).toEqual({ chatId: own.chatId, isUnderAiControl: false, aiDisableReason: "manual" })
    for (const heard of [asking!, usual!]) {
      expect(await heard.next()).toMatchObject({ type: "MESSAGE_CREATED", payload: { text: "I am" } })
      await heard.stop()
    }
  })

  it("reads their chat over GraphQL, and nothing else", async () => {
    const own = await written({ text: "Where is my parcel?" })
    await acme.message({ chatId: own.chatId, text: "On its way" })
    await acme.message({ chatId: own.chatId, text: "Not for the visitor", role: "System" })
    const { data, errors } = await readAs(own.visitorToken, own.chatId)
    expect(errors).toBeUndefined()
    expect(data.messages.nodes.map(({ role, text }: Record<string, string>) => [role, text])).toEqual([
      ["USER", "On its way"],
      ["CUSTOMER", "Where is my parcel?"],
    ])
    const other = await written({ text: "Mine alone" })
    expect((await readAs(own.visitorToken, other.chatId)).errors![0]!.extensions.code).toBe("FORBIDDEN")
    expect((await gql(own.visitorToken, "{ me { id } }")).errors![0]!.extensions.statusCode).toBeGreaterThanOrEqual(401)
    await rest
      .as(own.visitorToken)
      .get("/api/chats")
      .expect(({ status }) => expect([401, 403]).toContain(status))
  })

  it("has none any more when their chat was deleted: 401, everywhere", async () => {
    const first = await written({ text: "One" })
    await rest.as(acme.token).delete(`/api/chats/${first.chatId}`).expect(200)
    const { body } = await visit({ text: "Two", visitorToken: first.visitorToken }).expect(401)
    expect(body.code).toBe("UNAUTHENTICATED")
    expect(await readAs(first.visitorToken, first.chatId)).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: "UNAUTHENTICATED" } }],
    })
    const second = await written({ text: "Two" })
    expect((await readAs(second.visitorToken, second.chatId)).data.messages.totalCount).toBe(1)
  })

  it("has none while the widget is disconnected: 401, and 404 at its hook", async () => {
    const connection = await widget("ended-site")
    const { visitorToken, chatId } = await written({ text: "One" }, { connection })
    expect((await readAs(visitorToken, chatId)).data.messages.totalCount).toBe(1)
    await sql("update channel set is_active = false where id = $1", [connection])
    expect(await readAs(visitorToken, chatId)).toMatchObject({ status: 401, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] })
    await visit({ text: "Two", visitorToken }, { connection }).expect(404)
  })

  it("may use it for 30 days from its last use", async () => {
    const first = await written({ text: "Day 0" })
    try {
      clock.advance(30 * day - 60_000)
      const second = await written({ text: "Day 30", visitorToken: first.visitorToken })
      expect(second.chatId).toBe(first.chatId)
      clock.advance(120_000)
      const { body } = await visit({ text: "Day 31", visitorToken: first.visitorToken }).expect(401)
      expect(body.code).toBe("UNAUTHENTICATED")
      expect((await readAs(first.visitorToken, first.chatId)).status).toBe(401)
      clock.advance(20 * day)
      expect((await written({ text: "Day 50", visitorToken: second.visitorToken })).chatId).toBe(first.chatId)
    } finally {
      clock.advance(-(50 * day + 60_000))
    }
  })

  it.each([
    ["another company's", async () => (await written({ text: "Hi" }, { connection: globex.widget.id })).visitorToken],
    ["a person's", async () => acme.owner.jwt],
    ["a company's access token", async () => acme.token],
    ["garbage", async () => "garbage"],
    ["a forged one", async () => `${(await written({ text: "Hi" })).visitorToken.slice(0, -4)}AAAA`],
  ])("is refused with %s", async (_whose, token) => {
    const visitorToken = await token()
    // Responses to earlier visitors may still arrive.
    const visitors = () => sql("select count(*) from message where company_id = $1 and role = 'Customer'", [acme.id])
    const before = await visitors()
    const { body } = await visit({ text: "Let me in", visitorToken }).expect(401)
    expect(body.code).toBe("UNAUTHENTICATED")
    expect(await visitors()).toEqual(before)
  })

  it("of one widget has a separate chat on another widget of the company", async () => {
    const first = await written({ text: "One" })
    const connection = await widget("second-site")
    const second = await written({ text: "Two", visitorToken: first.visitorToken }, { connection })
    expect(second.chatId).not.toBe(first.chatId)
    expect(await look(second.chatId)).toMatchObject({ fromId: "second-site" })
  })
})

describe("a repeated message", () => {
  const ids = ({ chatId, messageId }: { chatId: string; messageId: string }) => ({ chatId, messageId })

  it.each(["without", "with"])("%s a token gets the same response, and is stored once", async (token) => {
    const { visitorToken } = token === "with" ? await written({ text: "Hello" }) : { visitorToken: undefined }
    const again = { text: "Only once", messageId: v7(), visitorToken }
    const first = await written(again)
    expect(ids(await written(again))).toEqual(ids(first))
    expect((await textsOf(first.chatId)).filter((text) => text === "Only once")).toHaveLength(1)
    expect(await look(first.chatId)).toMatchObject({ unreadCount: token === "with" ? 2 : 1 })
    const continued = await written({ text: "Next", visitorToken: first.visitorToken })
    expect(continued.chatId).toBe(first.chatId)
  })

  it.each(["without", "with"])("ten times at once %s a token is one chat and one message", async (token) => {
    const { visitorToken } = token === "with" ? await written({ text: "Hello" }) : { visitorToken: undefined }
    const text = `At once ${token}`
    const again = { text, messageId: v7(), visitorToken }
    const answers = await Promise.all(Array.from({ length: 10 }, () => written(again)))
    expect(new Set(answers.map((answer) => JSON.stringify(ids(answer)))).size).toBe(1)
    expect(await sql("select chat_id from message where text = $1", [text])).toEqual([{ chat_id: answers[0]!.chatId }])
    const created = "select count(*)::integer as count from event where type = 'CHAT_CREATED' and chat_id = $1"
    expect(await sql(created, [answers[0]!.chatId])).toEqual([{ count: 1 }])
  })

  it("gives no access to another visitor with the same id", async () => {
    const first = await written({ text: "A secret", messageId: "1" })
    const otherWords = await written({ text: "Something else", messageId: "1" })
    const otherPlace = await written({ text: "A secret", messageId: "1" }, { address: "198.51.100.7" })
    expect(new Set([first.chatId, otherWords.chatId, otherPlace.chatId]).size).toBe(3)
    expect(await textsOf(first.chatId)).toEqual(["A secret"])
  })
})

describe("the hook", () => {
  it.each([
    ["an unknown connection", async () => `widget/${v7()}`],
    ["a malformed one", async () => "widget/not-an-id"],
    ["another messenger's", async () => `telegram-bot/${acme.widget.id}`],
    ["an unheard-of messenger's", async () => `pigeon/${acme.widget.id}`],
    [
      "a disconnected one",
      async () => {
        const id = await widget("closed-site")
        await sql("update channel set is_active = false where id = $1", [id])
        return `widget/${id}`
      },
    ],
  ])("is not there for %s", async (_which, address) => {
    // With the header of a signature, since a request without one is refused before its connection is looked up.
    const signed = rest.as({ "X-Telegram-Bot-Api-Secret-Token": "secret" })
    const { body } = await signed.post(`/hooks/${await address()}`, { text: "Hello" }).expect(404)
    expect(body).toMatchObject({ code: "NOT_FOUND", statusCode: 404 })
  })

  it.each([
    ["no text", {}, "text"],
    ["an empty text", { text: "" }, "text"],
    ["blanks", { text: " \n\t " }, "text"],
    ["a text too long", { text: "x".repeat(16_001) }, "text"],
    ["a number as text", { text: 5 }, "text"],
    ["null as text", { text: null }, "text"],
    ["NUL in the text", { text: "a\u0000b" }, null],
    ["NUL in the name", { text: "Hello", name: "A\u0000" }, null],
    ["an object as name", { text: "Hello", name: {} }, "name"],
    ["a name too long", { text: "Hello", name: "x".repeat(501) }, "name"],
    ["an empty message id", { text: "Hello", messageId: "" }, "messageId"],
    ["a number as message id", { text: "Hello", messageId: 1 }, "messageId"],
    ["a message id too long", { text: "Hello", messageId: "x".repeat(501) }, "messageId"],
    ["an array as token", { text: "Hello", visitorToken: [] }, "visitorToken"],
  ])("refuses %s", async (_what, body, path) => {
    const refused = await visit(body).expect(400)
    expect(refused.body).toMatchObject({ code: "BAD_USER_INPUT", message: expect.any(String) })
    if (path) expect(refused.body.details).toMatchObject([{ path }])
  })

  it("takes a text up to its limit in code points, and null for optional fields", async () => {
    await written({ text: "🙂".repeat(16_000), name: null, messageId: null, visitorToken: null })
  })

  it("refuses a body that is not a JSON object", async () => {
    const send = (type: string, body: string) => supertest(w.url).post(`/hooks/widget/${acme.widget.id}`).type(type).send(body)
    await send("json", "[]").expect(400)
    await send("json", "{ broken").expect(400)
    await send("text/plain", "Hello").expect(415)
    await send("json", JSON.stringify({ text: "x".repeat(1024 * 1024) })).expect(413)
  })

  it("allows pages of any origin", async () => {
    const origin = "https://shop.example"
    const preflight = await supertest(w.url)
      .options(`/hooks/widget/${acme.widget.id}`)
      .set({ Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type" })
      .expect(204)
    expect(preflight.headers).toMatchObject({ "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" })
    expect(preflight.headers["access-control-allow-methods"]).toContain("POST")
    const answered = await visit({ text: "Hello" }).set("Origin", origin).expect(201)
    expect(answered.headers["access-control-allow-origin"]).toBe("*")
    const refused = await visit({}).set("Origin", origin).expect(400)
    expect(refused.headers["access-control-allow-origin"]).toBe("*")
  })
})

describe("visitors' messages that wait for the database", () => {
  it("leave connections to people's requests, are refused after some seconds, and are stored once when they are repeated", async () => {
    // More than the pool has connections.
    const texts = Array.from({ length: 12 }, (_, number) => `Is order ${number} on its way?`)
    const write = async (text: string, number: number) => visit({ text, messageId: text }, { address: `203.0.113.${number + 50}` })
    await using blocked = await blockWrites(w, "insert on message", `new.text like 'Is order % on its way?'`)
    const writing = texts.map(write)
    await blocked.waiting(contextLimits.connectionUses.system)
    await rest.as(acme.token).get("/api/chats").expect(200)
    const refused = new Set<number>()
    for (const request of writing) void request.then(({ status, headers }) => headers["retry-after"] && refused.add(status))
    await until("one that has no connection is refused", () => refused.has(503))
    await blocked.open()
    const statuses = (await Promise.all(writing)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([201, 503]))
    for (const [number, text] of texts.entries()) {
      const { body } = await write(text, number)
      expect(await textsOf(body.chatId)).toEqual([text])
    }
  })
})
