import { v7 } from "uuid"
import { messengers } from "../../src/entities/channel.js"
import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex } = w
  const rest = bothProtocols(w)

  const create = (fields: object = {}) => rest.as(acme.token).post("/api/chats", { messenger: "telegram", fromId: "shop", ...fields })
  const read = async (id: string, query = "") => (await rest.as(acme.token).get(`/api/chats/${id}${query}`).expect(200)).body
  const patch = (id: string, body: object) => rest.as(acme.token).patch(`/api/chats/${id}`, body)

  describe("creating a chat", () => {
    it("needs only a messenger and an account", async () => {
      const { body } = await create().expect(201)
      expect(body).toEqual({
        id: expect.any(String),
        companyId: acme.id,
        messenger: "telegram",
        fromId: "shop",
        externalId: null,
        name: null,
        accountName: null,
        username: null,
        phoneNumber: null,
        chatType: "private",
        assistantId: null,
        managerId: null,
        folderId: null,
        folder: null,
        isUnderAiControl: false,
        aiDisableReason: null,
        needsAttention: false,
        unreadCount: 0,
        lastReadAt: null,
        lastMessageAt: null,
        lastMessage: null,
        assistant: null,
        manager: null,
        tags: [],
        meta: { labels: [], comments: [], sourceChannel: null },
        contextId: null,
        createdAt: expect.any(String),
        updatedAt: body.createdAt,
      })
      expect(await read(body.id)).toEqual(body)
    })

    it("stores every field", async () => {
      const said = {
        companyId: acme.id,
        messenger: "instagram",
        fromId: "shop",
        externalId: v7(),
        name: "Ann",
        accountName: "Shop",
        username: "ann",
        phoneNumber: "+380 44 123",
        chatType: "group",
        managerId: acme.member.id,
      }
      const { body } = await create({ ...said, sourceChannel: "olx" }).expect(201)
      expect(body).toMatchObject({ ...said, meta: { sourceChannel: "olx" }, isUnderAiControl: false })
    })

    it("takes every messenger by the specification's word", async () => {
      expect(messengers).toHaveLength(19)
      for (const messenger of messengers) expect((await create({ messenger }).expect(201)).body.messenger).toBe(messenger)
      for (const messenger of ["TELEGRAM_BOT", "telegram_bot", "Telegram", "fax"]) await create({ messenger }).expect(400)
    })

    it("turns AI on exactly when an assistant is given", async () => {
      const { body } = await create({ assistantId: acme.assistant.id }).expect(201)
      expect(body).toMatchObject({ assistantId: acme.assistant.id, isUnderAiControl: true, aiDisableReason: null, assistant: null })
    })

    it("refuses invalid combinations", async () => {
      const draft = await acme.makeAssistant({ isDraft: true })
      for (const fields of [
        { assistantId: acme.assistant.id, chatType: "group" },
        { assistantId: draft.id },
        { assistantId: globex.assistant.id },
        { assistantId: v7() },
        { managerId: globex.owner.id },
        { managerId: v7() },
        { fromId: " " },
        { chatType: "PRIVATE" },
      ]) {
        const { body } = await create(fields).expect(400)
        expect(body.code).toBe("BAD_USER_INPUT")
      }
    })
  })

  describe("a customer's chat", () => {
    it("is unique: a second one is 409, also when ten are created at once", async () => {
      const externalId = v7()
      const answers = await Promise.all(Array.from({ length: 10 }, () => create({ externalId })))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
      const { body } = await create({ externalId }).expect(409)
      expect(body).toMatchObject({ code: "CONFLICT", error: "Conflict" })
      const { body: page } = await rest.as(acme.token).get("/api/chats?take=100").expect(200)
      expect(page.data.filter((chat: { externalId: string }) => chat.externalId === externalId)).toHaveLength(1)
    })

    it("is separate on another account, messenger or company, and without an id of the customer", async () => {
      const externalId = v7()
      await create({ externalId }).expect(201)
      await create({ externalId, fromId: "shop 2" }).expect(201)
      await create({ externalId, messenger: "whatsapp" }).expect(201)
      await rest.as(globex.token).post("/api/chats", { messenger: "telegram", fromId: "shop", externalId }).expect(201)
      await create().expect(201)
      await create().expect(201)
    })
  })

  describe("including", () => {
    it("shows the assistant and the manager when they are included, else null", async () => {
      const { id } = await acme.chat({ assistantId: acme.assistant.id, managerId: acme.member.id })
      expect(await read(id)).toMatchObject({ assistant: null, manager: null, lastMessage: null })
      const { assistant, manager, lastMessage } = await read(id, "?include=assistant,manager")
      expect(assistant).toMatchObject({ id: acme.assistant.id, name: acme.assistant.name, greeting: "Welcome to Acme!" })
      expect(manager).toEqual({ id: acme.member.id, email: acme.member.email, name: acme.member.name })
      expect(lastMessage).toBeNull()
      expect(await read(id, "?include=manager")).toMatchObject({ assistant: null, manager: { id: acme.member.id } })
      expect(await read((await acme.chat()).id, "?include=assistant,manager")).toMatchObject({ assistant: null, manager: null })
    })

    it("of an unknown name is 400 on REST, and names it", async () => {
      const { id } = await acme.chat()
      const { body } = await w.rest.as(acme.token).get(`/api/chats/${id}?include=assistant,passwords`).expect(400)
      expect(body.details).toEqual([{ path: "include", message: expect.stringContaining("passwords") }])
    })
  })

  describe("changing a chat", () => {
    it("keeps absent fields, and clears nullable fields with null", async () => {
      const chat = await acme.chat({ name: "Ann", assistantId: acme.assistant.id, managerId: acme.member.id })
      const { body: same } = await patch(chat.id, {}).expect(200)
      expect(same).toEqual({ ...chat, updatedAt: same.updatedAt })
      const { body: renamed } = await patch(chat.id, { name: " Ben " }).expect(200)
      expect(renamed).toEqual({ ...chat, name: "Ben", updatedAt: renamed.updatedAt })
      const cleared = { name: null, assistantId: null, managerId: null }
      const { body } = await patch(chat.id, cleared).expect(200)
      expect(body).toEqual({ ...chat, ...cleared, updatedAt: body.updatedAt })
      await patch(chat.id, { isUnderAiControl: null }).expect(400)
      expect(await read(chat.id)).toEqual(body)
    })

    it("skips the business rules: a group, a draft and no subscription do not matter", async () => {
      const draft = await globex.makeAssistant({ isDraft: true })
      const group = await globex.chat({ chatType: "group" })
      await globex.subscription(null)
      const changes = { assistantId: draft.id, isUnderAiControl: true }
      const { body } = await rest.as(globex.token).patch(`/api/chats/${group.id}`, changes).expect(200)
      expect(body).toMatchObject({ ...changes, chatType: "group", aiDisableReason: null })
      await globex.subscription("active")
    })

    it("turns AI off with the reason manual", async () => {
      const { id } = await acme.chat({ assistantId: acme.assistant.id })
      const { body } = await patch(id, { isUnderAiControl: false }).expect(200)
      expect(body).toMatchObject({ isUnderAiControl: false, aiDisableReason: "manual", needsAttention: false })
    })

    promised("refuses references to another company's rows and to missing rows", async () => {
      const chat = await acme.chat({ managerId: acme.owner.id })
      for (const body of [
        { assistantId: globex.assistant.id },
        { assistantId: v7() },
        { managerId: globex.owner.id },
        { managerId: v7() },
        { name: 5 },
        { isUnderAiControl: "true" },
      ])
        await patch(chat.id, { name: "Changed", ...body }).expect(400)
      expect(await read(chat.id)).toEqual(chat)
    })
  })

  describe("deleting a chat", () => {
    it("deletes it with its messages, and a later chat with the customer is a new one", async () => {
      const { id, externalId } = await acme.chat()
      const message = await acme.message({ chatId: id })
      await acme.message({ chatId: id, role: "Customer", replyToMessageId: message.id })
      const { body } = await rest.as(acme.token).delete(`/api/chats/${id}`).expect(200)
      expect(body).toEqual({ id, deleted: true })
      await rest.as(acme.token).get(`/api/chats/${id}`).expect(404)
      await rest.as(acme.token).delete(`/api/chats/${id}`).expect(404)
      await rest.as(acme.token).get(`/api/messages/${message.id}`).expect(404)
      await rest.as(acme.token).get(`/api/messages?chatId=${id}`).expect(403)
      expect((await acme.chat({ externalId })).id).not.toBe(id)
    })
  })
})
