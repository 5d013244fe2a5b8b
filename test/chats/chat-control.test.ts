import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, gql, clock } = w
  const rest = bothProtocols(w)

  const control = (id: string, body: object, company = acme) => rest.as(company.token).patch(`/api/chats/${id}/ai-control`, body)
  const assign = (id: string, assistantId: unknown) => rest.as(acme.token).patch(`/api/chats/${id}/assign-assistant`, { assistantId })
  const read = async (id: string) => (await rest.as(acme.token).get(`/api/chats/${id}`).expect(200)).body
  const answered = (company = acme) => company.chat({ assistantId: company.assistant.id })

  describe("turning AI off", () => {
    it("has the reason manual by default, and returns only the new state", async () => {
      const { id } = await answered()
      const { body } = await control(id, { isUnderAiControl: false }).expect(200)
      expect(body).toEqual({ id, isUnderAiControl: false, aiDisableReason: "manual" })
      expect(await read(id)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "manual", needsAttention: false })
    })

    it("with the reason auto shows that a person is needed; a later reason replaces it", async () => {
      const { id } = await answered()
      const { body } = await control(id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      expect(body).toEqual({ id, isUnderAiControl: false, aiDisableReason: "auto" })
      expect((await read(id)).needsAttention).toBe(true)
      expect((await control(id, { isUnderAiControl: false }).expect(200)).body.aiDisableReason).toBe("manual")
      expect((await read(id)).needsAttention).toBe(false)
    })

    it("with the reason auto needs a person until one has written, and again after the next time", async () => {
      const { id } = await answered()
      const needs = async () => (await read(id)).needsAttention
      await acme.message({ chatId: id, text: "Before" })
      await control(id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      await acme.message({ chatId: id, role: "Customer", text: "Is anybody there?" })
      expect(await needs()).toBe(true)
      await acme.message({ chatId: id, text: "I am" })
      expect(await needs()).toBe(false)
      await acme.message({ chatId: id, role: "Customer", text: "Thank you" })
      expect(await needs()).toBe(false)
      await control(id, { isUnderAiControl: true }).expect(200)
      await control(id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      expect(await needs()).toBe(true)
    })

    it("is always allowed: in a group, without a subscription", async () => {
      const group = await globex.chat({ chatType: "group" })
      const chat = await answered(globex)
      await globex.subscription(null)
      for (const { id } of [group, chat]) await control(id, { isUnderAiControl: false }, globex).expect(200)
      await globex.subscription("active")
    })
  })

  describe("turning AI on", () => {
    it("clears the reason", async () => {
      const { id } = await answered()
      await control(id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      const { body } = await control(id, { isUnderAiControl: true }).expect(200)
      expect(body).toEqual({ id, isUnderAiControl: true, aiDisableReason: null })
      expect(await read(id)).toMatchObject({ isUnderAiControl: true, aiDisableReason: null, needsAttention: false })
    })

    it("in a group is 400, before the check of the subscription", async () => {
      const group = await globex.chat({ chatType: "group" })
      await control(group.id, { isUnderAiControl: true }, globex).expect(400)
      await globex.subscription(null)
      await control(group.id, { isUnderAiControl: true }, globex).expect(400)
      await globex.subscription("active")
    })

    it("needs a subscription that is active now", async () => {
      const { id } = await globex.chat()
      const refused = async () => {
        const { body } = await control(id, { isUnderAiControl: true }, globex).expect(403)
        expect(body.code).toBe("FORBIDDEN")
        expect((await rest.as(globex.token).get(`/api/chats/${id}`)).body.isUnderAiControl).toBe(false)
      }
      await globex.subscription(null)
      await refused()
      for (const status of ["past_due", "canceled"] as const) {
        await globex.subscription(status)
        await refused()
      }
      const later = (ms: number) => new Date(clock.now().getTime() + ms)
      await globex.subscription("active", later(-1_000))
      await refused()
      await globex.subscription("trialing", later(60_000))
      await control(id, { isUnderAiControl: true }, globex).expect(200)
      await control(id, { isUnderAiControl: false }, globex).expect(200)
      clock.advance(61_000)
      await refused()
      await globex.subscription("active")
      await control(id, { isUnderAiControl: true }, globex).expect(200)
    })

    it.each([{}, { isUnderAiControl: null }, { isUnderAiControl: "true" }, { isUnderAiControl: false, aiDisableReason: "tired" }])(
      "with %j is 400",
      async (body) => {
        const chat = await answered()
        await control(chat.id, body).expect(400)
        expect(await read(chat.id)).toEqual(chat)
      },
    )
  })

  describe("taking a chat over", () => {
    const take = (by: string, id: string, managerId?: string) =>
      gql(by, "mutation ($id: UUID!, $managerId: UUID) { takeOverChat(id: $id, managerId: $managerId) { id } }", { id, managerId })
    const errorOf = ({ errors }: { errors?: { extensions: object }[] }) => errors?.[0]?.extensions

    it("turns AI off and makes the user who asks its manager, who may ask again", async () => {
      const { id } = await answered()
      const { member } = acme
      for (let times = 0; times < 2; times += 1) expect((await take(member.jwt, id)).data).toEqual({ takeOverChat: { id } })
      expect(await read(id)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "manual", managerId: member.id })
    })

    it("is possible while the assistant answers, also when the chat has a manager, and while nobody has taken what it passed on", async () => {
      const { id } = await answered()
      await rest.as(acme.token).patch(`/api/chats/${id}`, { managerId: acme.owner.id }).expect(200)
      expect((await take(acme.token, id, acme.member.id)).errors).toBeUndefined()
      const passedOn = await answered()
      await control(passedOn.id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      expect((await take(acme.token, passedOn.id, acme.member.id)).errors).toBeUndefined()
      expect(await read(passedOn.id)).toMatchObject({ aiDisableReason: "manual", managerId: acme.member.id, needsAttention: false })
      // Its manager may be away.
      await control(passedOn.id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      expect((await take(acme.token, passedOn.id, acme.owner.id)).errors).toBeUndefined()
    })

    promised("is refused for all but one of those who do so at once", async () => {
      const { id } = await answered()
      const people = [acme.owner, acme.admin, acme.member]
      const answers = await Promise.all(people.map(({ jwt }) => take(jwt, id)))
      const refused = answers.map(errorOf).filter((each) => each !== undefined)
      expect(refused).toEqual([1, 2].map(() => expect.objectContaining({ code: "CONFLICT", statusCode: 409 })))
      const { managerId } = await read(id)
      expect(answers[people.findIndex((each) => each.id === managerId)]!.data).toEqual({ takeOverChat: { id } })
    })

    it("needs a member of the company, and from an access token that one is named", async () => {
      const { id } = await answered()
      for (const managerId of [undefined, globex.member.id, v7()])
        expect(errorOf(await take(acme.token, id, managerId))).toMatchObject({
          code: "BAD_USER_INPUT",
          details: [{ path: "managerId", message: expect.any(String) }],
        })
      expect(await read(id)).toMatchObject({ isUnderAiControl: true, managerId: null })
    })
  })

  describe("assigning an assistant", () => {
    it("assigns the chat and turns AI on, whatever turned it off", async () => {
      const { id } = await acme.chat()
      await control(id, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
      const { body } = await assign(id, acme.assistant.id).expect(200)
      expect(body).toMatchObject({ id, assistantId: acme.assistant.id, isUnderAiControl: true, aiDisableReason: null })
      expect(await read(id)).toEqual(body)
    })

    promised("refuses one that is missing, foreign or a draft, and a group", async () => {
      const chat = await acme.chat()
      const draft = await acme.makeAssistant({ isDraft: true })
      for (const id of [v7(), globex.assistant.id, draft.id, null, "nobody", undefined]) await assign(chat.id, id).expect(400)
      expect(await read(chat.id)).toEqual(chat)
      const group = await acme.chat({ chatType: "group" })
      await assign(group.id, acme.assistant.id).expect(400)
      expect(await read(group.id)).toEqual(group)
    })
  })

  describe("unassigning the assistant", () => {
    it("clears it and leaves the flag as it is", async () => {
      for (const isUnderAiControl of [true, false]) {
        const { id } = await answered()
        await control(id, { isUnderAiControl }).expect(200)
        const { body } = await rest.as(acme.token).patch(`/api/chats/${id}/unassign-assistant`).expect(200)
        expect(body).toMatchObject({ id, assistantId: null, isUnderAiControl })
        expect(await read(id)).toEqual(body)
      }
    })

    it("of a chat that has none changes nothing", async () => {
      const chat = await acme.chat()
      const { body } = await rest.as(acme.token).patch(`/api/chats/${chat.id}/unassign-assistant`).expect(200)
      expect(body).toEqual({ ...chat, updatedAt: body.updatedAt })
    })
  })

  describe("its events", () => {
    it("are one for each real change, stored with actor and reason", async () => {
      const { id } = await answered()
      const heard = await subscribe(w, acme.token, { chatId: id, types: ["CHAT_MODE_CHANGED"] })
      const off = { isUnderAiControl: false, aiDisableReason: "auto" }
      await control(id, off).expect(200)
      await control(id, off).expect(200)
      await rest.as(acme.owner.jwt).patch(`/api/chats/${id}/ai-control`, { isUnderAiControl: true }).expect(200)
      await control(id, { isUnderAiControl: true }).expect(200)
      await control(id, { isUnderAiControl: false }).expect(200)
      expect((await heard.take(3)).map(({ payload }) => payload)).toEqual([
        { chatId: id, isUnderAiControl: false, aiDisableReason: "auto" },
        { chatId: id, isUnderAiControl: true, aiDisableReason: null },
        { chatId: id, isUnderAiControl: false, aiDisableReason: "manual" },
      ])
      await heard.stop()

      const fields = "isUnderAiControl aiDisableReason actorKind actorId"
      const { data } = await gql(acme.token, `query ($id: UUID!) { chat(id: $id) { controlChanges { ${fields} } } }`, { id })
      const byToken = { actorKind: "TOKEN", actorId: acme.tokenId }
      expect(data.chat.controlChanges).toEqual([
        { isUnderAiControl: false, aiDisableReason: "MANUAL", ...byToken },
        { isUnderAiControl: true, aiDisableReason: null, actorKind: "USER", actorId: acme.owner.id },
        { isUnderAiControl: false, aiDisableReason: "AUTO", ...byToken },
      ])
    })
  })
})
