import { protocols } from "../kit/graphql-client.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

describe.each(protocols)("over %s:", (_name, clientOf) => {
  const w = world()
  const { acme, sql, clock } = w
  const rest = clientOf(w)

  const post = (key: string, body: object, path = "/api/messages", as = acme.token) =>
    rest.as(as).post(path, body).set("Idempotency-Key", key)

  describe("Idempotency-Key", () => {
    it("returns the stored response to a repeated request, and marks it", async () => {
      const chat = await acme.chat()
      const first = await post("k1", { chatId: chat.id, text: "once" }).expect(201)
      const again = await post("k1", { chatId: chat.id, text: "once" }).expect(201)
      expect(first.headers["idempotency-replayed"]).toBeUndefined()
      expect(again.headers["idempotency-replayed"]).toBe("true")
      expect(again.body).toEqual(first.body)
      expect(await sql("select 1 from message where chat_id = $1", [chat.id])).toHaveLength(1)
    })

    it("refuses another request under the same key, and belongs to one credential", async () => {
      const chat = await acme.chat()
      await post("k2", { chatId: chat.id, text: "one" }).expect(201)
      const { body } = await post("k2", { chatId: chat.id, text: "two" }).expect(422)
      expect(body.code).toBe("IDEMPOTENCY_KEY_REUSED")
      await post("k2", { chatId: chat.id, text: "two" }, "/api/messages", acme.owner.jwt).expect(201)
      await post("k2", { messenger: "olx", fromId: "a", externalId: "k2" }, "/api/chats").expect(201)
    })

    promised("stores one of ten at once: the others are replayed, or refused because it still runs", async () => {
      const chat = await acme.chat()
      const answers = await Promise.all(Array.from({ length: 10 }, () => post("k3", { chatId: chat.id, text: "race" })))
      expect(new Set(answers.map((answer) => answer.status))).toEqual(
        new Set(answers.some((answer) => answer.status === 409) ? [201, 409] : [201]),
      )
      expect(await sql("select 1 from message where chat_id = $1", [chat.id])).toHaveLength(1)
      expect(await sql("select 1 from event where chat_id = $1 and type = 'MESSAGE_CREATED'", [chat.id])).toHaveLength(1)
    })

    it("forgets a failed request, so that it can be corrected", async () => {
      const chat = await acme.chat()
      await post("k4", { chatId: chat.id, text: "" }).expect(400)
      await post("k4", { chatId: chat.id, text: "now" }).expect(201)
    })

    it("is kept for 24 hours", async () => {
      const chat = await acme.chat()
      await post("k5", { chatId: chat.id, text: "same" }).expect(201)
      clock.advance(24 * 60 * 60 * 1000 + 1)
      const later = await post("k5", { chatId: chat.id, text: "same" }).expect(201)
      expect(later.headers["idempotency-replayed"]).toBeUndefined()
      expect(later.body.sequence).toBe(2)
    })

    it("replays a created chat, where the index would refuse a second one", async () => {
      const body = { messenger: "prom", fromId: "shop", externalId: "idem" }
      const first = await post("k6", body, "/api/chats").expect(201)
      expect((await post("k6", body, "/api/chats").expect(201)).body).toEqual(first.body)
      await rest.as(acme.token).post("/api/chats", body).expect(409)
    })

    it("answers a repeated request that selects more than REST shows", async () => {
      const chat = await acme.chat()
      const create = (text: string) =>
        w.gql(acme.token, "mutation ($input: CreateMessageInput!) { createMessage(input: $input) { id chat { id } } }", {
          input: { chatId: chat.id, text, idempotencyKey: "k7" },
        })
      const first = await create("x")
      expect((await create("x")).data).toEqual(first.data)
      expect((await create("y")).errors![0]!.extensions).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED", statusCode: 422 })
    })
  })
})
