import { v7 } from "uuid"
import { world } from "../kit/world.js"

const { acme, globex, rest, gql, sql } = world()

const path = "/api/chats/messengers"

describe("channel connections", () => {
  it("lists active ones, with the account's id and without credentials", async () => {
    const { body } = await rest.as(acme.token).get(path).expect(200)
    expect(body).toEqual([
      {
        id: acme.widget.id,
        companyId: acme.id,
        messenger: "widget",
        name: "Acme's site",
        isActive: true,
        assistantId: acme.assistant.id,
        config: { externalId: "acme-site" },
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ])
  })

  it("that were disconnected are not listed, and their hook is not found", async () => {
    await sql("update channel set is_active = false where id = $1", [globex.widget.id])
    expect((await rest.as(globex.token).get(path).expect(200)).body).toEqual([])
    await rest.anonymous.post(`/hooks/widget/${globex.widget.id}`, { text: "Hello" }).expect(404)
  })

  it("never show credentials, also over GraphQL", async () => {
    const { errors } = await gql(acme.token, "{ channels { id credentials } }")
    expect(errors![0]!.extensions.code).toBe("GRAPHQL_VALIDATION_FAILED")
  })
})

describe("a hook", () => {
  it.each([
    ["unknown", () => ["widget", v7()]],
    ["malformed", () => ["widget", "not-a-uuid"]],
    ["of another messenger", () => ["telegram-bot", acme.widget.id]],
    ["of no messenger at all", () => ["carrier-pigeon", acme.widget.id]],
  ])("whose connection is %s is not found", async (_name, named) => {
    const [messenger, id] = named()
    // With the header of a signature: a request without one is refused first.
    await rest.as({ "X-Telegram-Bot-Api-Secret-Token": "s" }).post(`/hooks/${messenger}/${id}`, { text: "Hello" }).expect(404)
  })
})
