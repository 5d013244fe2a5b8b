import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { stillTime } from "../kit/turns.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, gql, sql, clock } = w
  const rest = bothProtocols(w)

  const post = (fields: object, credential = acme.token) => rest.as(credential).post("/api/messages", { text: "Hello", ...fields })
  const chatOf = async (id: string) => (await rest.as(acme.token).get(`/api/chats/${id}?include=assistant`).expect(200)).body

  describe("a message", () => {
    it("is from the company, a text and queued by default", async () => {
      await acme.connection("telegram", "shop")
      const chat = await acme.chat({ messenger: "telegram", fromId: "shop" })
      const { body } = await post({ chatId: chat.id, source: "SMS", fromId: "somebody", status: "read", sequence: 7 }).expect(201)
      expect(body).toEqual({
        id: expect.any(String),
        companyId: acme.id,
        chatId: chat.id,
        sequence: 1,
        role: "User",
        type: "Text",
        text: "Hello",
        source: "PLATFORM",
        fromId: "shop",
        status: "queued",
        sender: null,
        sentAt: null,
        deliveredAt: null,
        deliveryError: null,
        externalId: null,
        authorId: null,
        contextId: null,
        replyToMessageId: null,
        replyTo: null,
        mediaIds: [],
        messageMedia: [],
        sources: [],
        functionCall: null,
        functionCallOutput: null,
        createdAt: expect.any(String),
        updatedAt: body.createdAt,
      })
      const { body: shown } = await rest.as(acme.token).get(`/api/messages/${body.id}`).expect(200)
      // The delivery may fail meanwhile, since the connection has no credentials.
      const delivery = { status: expect.any(String), deliveryError: shown.deliveryError, updatedAt: expect.any(String) }
      const chatShown = { id: chat.id, companyId: acme.id, messenger: "telegram", fromId: "shop", name: null }
      expect(shown).toEqual({ ...body, ...delivery, chat: chatShown })
    })

    it("is sent at once where the event delivers it", async () => {
      for (const messenger of ["widget", "playground"]) {
        const { id } = await acme.chat({ messenger })
        const message = await acme.message({ chatId: id })
        expect(message).toMatchObject({ status: "sent", sentAt: message.createdAt })
      }
    })

    it("has its user as author, and none under a token or from a customer", async () => {
      const { id: chatId } = await acme.chat()
      const { body } = await post({ chatId }, acme.member.jwt).expect(201)
      expect(body.authorId).toBe(acme.member.id)
      const shown = await gql(acme.token, "query ($id: UUID!) { message(id: $id) { author { id name } } }", { id: body.id })
      expect(shown.data).toEqual({ message: { author: { id: acme.member.id, name: expect.any(String) } } })
      expect((await post({ chatId, role: "Customer" }, acme.member.jwt).expect(201)).body.authorId).toBeNull()
      expect((await post({ chatId }).expect(201)).body.authorId).toBeNull()
    })

    it("stores its text unchanged, up to 16,000 characters", async () => {
      const { id: chatId } = await acme.chat()
      for (const text of ["  two\n lines  ", "🎈".repeat(16_000)]) expect((await post({ chatId, text }).expect(201)).body.text).toBe(text)
      for (const text of ["🎈".repeat(16_001), "", "  \n", null, undefined, 5]) await post({ chatId, text }).expect(400)
    })

    it.each([
      ["role", "Assistant"],
      ["role", "USER"],
      ["role", "Boss"],
      ["type", "FunctionCall"],
      ["type", "FunctionCallOutput"],
      ["type", "Photo"],
      ["type", "TEXT"],
      ["type", "Song"],
    ])("with %s %s is refused, and nothing is stored", async (field, value) => {
      const { id: chatId } = await acme.chat()
      const { body } = await post({ chatId, [field]: value }).expect(400)
      expect(body.details[0].path).toBe(field)
      expect(await sql("select 1 from message where chat_id = $1", [chatId])).toEqual([])
    })

    promised("is 403 in a chat that is foreign or missing", async () => {
      const theirs = await globex.chat()
      for (const chatId of [theirs.id, v7()]) {
        for (const fields of [{}, { role: "Customer" }, { replyToMessageId: v7() }]) {
          const { body } = await post({ chatId, ...fields }).expect(403)
          expect(body.code).toBe("FORBIDDEN")
        }
        await rest.as(acme.token).get(`/api/messages?chatId=${chatId}`).expect(403)
      }
      expect(await sql("select 1 from message where chat_id = $1", [theirs.id])).toEqual([])
      await rest.as(acme.token).get("/api/messages").expect(400)
    })

    it("reaches the company's clients exactly as REST shows it", async () => {
      const { id: chatId } = await acme.chat()
      const heard = await subscribe(w, acme.token, { chatId, types: ["MESSAGE_CREATED"] })
      const first = await acme.message({ chatId, role: "Customer" })
      const second = await acme.message({ chatId, replyToMessageId: first.id })
      expect((await heard.take(2)).map(({ payload }) => payload)).toEqual([first, second])
      await heard.stop()
    })
  })

  describe("the sequence number of a message", () => {
    promised("is 1 to 50 without gap or tie when 50 are created at once", async () => {
      const { id: chatId } = await acme.chat({ assistantId: acme.assistant.id })
      const roles = ["User", "Customer", "System"]
      const made = await Promise.all(Array.from({ length: 50 }, (_, index) => post({ chatId, role: roles[index % 3] }).expect(201)))
      const upTo50 = Array.from({ length: 50 }, (_, index) => index + 1)
      expect(made.map(({ body }) => body.sequence).sort((a, b) => a - b)).toEqual(upTo50)
      const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=50`).expect(200)
      expect(body.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual(upTo50.reverse())
      expect((await chatOf(chatId)).unreadCount).toBe(17)
    })
  })

  describe("a message without a chat", () => {
    it("is stored for the company, without a sequence number and without an event", async () => {
      const log = await endOfLog(w)
      const { body } = await post({ role: "Customer" }).expect(201)
      expect(body).toMatchObject({ companyId: acme.id, chatId: null, sequence: null, status: "stored", fromId: null, text: "Hello" })
      const { body: shown } = await rest.as(acme.token).get(`/api/messages/${body.id}`).expect(200)
      expect(shown).toEqual({ ...body, chat: null })
      expect(await endOfLog(w)).toBe(log)
      await rest.as(globex.token).get(`/api/messages/${body.id}`).expect(404)
    })

    it("quotes nothing, and names its company where there are two", async () => {
      const { id: chatId } = await acme.chat()
      const { id } = await acme.message({ chatId })
      await post({ replyToMessageId: id }).expect(400)
      const person = await acme.person()
      await globex.person("member", person)
      await post({}, person.jwt).expect(400)
      expect((await post({ companyId: globex.id }, person.jwt).expect(201)).body.companyId).toBe(globex.id)
      await post({ companyId: globex.id }).expect(403)
    })
  })

  describe("a reply", () => {
    it("shows the quoted message, one level", async () => {
      const { id: chatId } = await acme.chat()
      const first = await acme.message({ chatId, role: "Customer", text: "Open?" })
      const second = await acme.message({ chatId, text: "Yes", replyToMessageId: first.id })
      const third = await acme.message({ chatId, text: "Until six", replyToMessageId: second.id })
      const { replyTo: _none, ...quotedFirst } = first
      expect(second.replyTo).toEqual(quotedFirst)
      expect(third.replyTo).toMatchObject({ id: second.id, replyToMessageId: first.id })
      expect(third.replyTo).not.toHaveProperty("replyTo")
      const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chatId}`).expect(200)
      expect(body.data).toEqual([third, second, first])
    })

    it("to a message of another chat, or to none, is 400", async () => {
      const [here, there] = [await acme.chat(), await acme.chat()]
      const foreign = await globex.message({ chatId: (await globex.chat()).id })
      const elsewhere = await acme.message({ chatId: there.id })
      for (const id of [elsewhere.id, foreign.id, v7(), "first"]) await post({ chatId: here.id, replyToMessageId: id }).expect(400)
      expect(await sql("select 1 from message where chat_id = $1", [here.id])).toEqual([])
    })

    const quoting = "telegram telegram-bot whatsapp whatsapp-business gmail resend custom-messenger widget playground instagram messenger"
    const mute = "viber-echat whatsapp-echat prom rozetka olx directhub sendpulse sitniks"

    it("is accepted where the channel supports quotes, else 400", async () => {
      for (const [names, status] of [
        [quoting, 201],
        [mute, 400],
      ] as const) {
        for (const messenger of names.split(" ")) {
          const { id: chatId } = await acme.chat({ messenger })
          const { id } = await acme.message({ chatId })
          await post({ chatId, replyToMessageId: id }).expect(status)
        }
      }
    })
  })

  describe("a customer's message", () => {
    stillTime()

    it("is inbound: stored, from the customer, and unread", async () => {
      const chat = await acme.chat({ messenger: "telegram" })
      const message = await acme.message({ chatId: chat.id, role: "Customer" })
      expect(message).toMatchObject({ role: "Customer", status: "stored", fromId: chat.externalId, sentAt: null })
      clock.advance(1_000)
      const second = await acme.message({ chatId: chat.id, role: "Customer" })
      expect(await chatOf(chat.id)).toMatchObject({ unreadCount: 2, lastMessageAt: second.createdAt, lastReadAt: null })
      await acme.message({ chatId: chat.id })
      await acme.message({ chatId: chat.id, role: "System" })
      expect((await chatOf(chat.id)).unreadCount).toBe(2)
    })

    /** The due time of the chat's reply, in milliseconds after a message. */
    const dueAfter = async (message: { chatId: string; createdAt: string }) => {
      const [{ reply_due_at: due }] = await sql("select reply_due_at from chat where id = $1", [message.chatId])
      return due && new Date(due).getTime() - new Date(message.createdAt).getTime()
    }
    const customer = (chatId: string) => acme.message({ chatId, role: "Customer" })

    it("makes the reply due 4 s after it, and at most 7 s after the first of its burst", async () => {
      const { id } = await acme.chat({ assistantId: acme.assistant.id })
      const first = await customer(id)
      expect(await dueAfter(first)).toBe(4_000)
      clock.advance(2_000)
      expect(await dueAfter(await customer(id))).toBe(4_000)
      clock.advance(3_900)
      await customer(id)
      expect(await dueAfter(first)).toBe(7_000)
      clock.advance(1_000)
      await customer(id)
      expect(await dueAfter(first)).toBe(7_000)
    })

    it("has a due time that a message of the company does not change", async () => {
      const { id: chatId } = await acme.chat({ assistantId: acme.assistant.id })
      const first = await customer(chatId)
      clock.advance(2_000)
      await acme.message({ chatId })
      await acme.message({ chatId, role: "System" })
      expect(await dueAfter(first)).toBe(4_000)
      expect((await chatOf(chatId)).isUnderAiControl).toBe(true)
    })

    it("waits for a person when AI is off, without an assistant, or in a group", async () => {
      const off = await acme.chat({ assistantId: acme.assistant.id })
      await rest.as(acme.token).patch(`/api/chats/${off.id}/ai-control`, { isUnderAiControl: false }).expect(200)
      const group = await acme.chat({ chatType: "group" })
      await rest.as(acme.token).patch(`/api/chats/${group.id}`, { isUnderAiControl: true, assistantId: acme.assistant.id }).expect(200)
      const alone = await acme.chat()
      await rest.as(acme.token).patch(`/api/chats/${alone.id}`, { isUnderAiControl: true }).expect(200)
      for (const { id } of [off, group, alone]) expect(await dueAfter(await customer(id))).toBeNull()
    })

    promised("is no longer answered after a take-over", async () => {
      const { id } = await acme.chat({ assistantId: acme.assistant.id })
      const message = await customer(id)
      await rest.as(acme.token).patch(`/api/chats/${id}/ai-control`, { isUnderAiControl: false }).expect(200)
      expect(await dueAfter(message)).toBeNull()
      clock.advance(10_000)
      await w.runDue()
      const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${id}`).expect(200)
      expect(body.totalCount).toBe(1)
    })
  })
})
