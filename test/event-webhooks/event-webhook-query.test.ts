import { webhookStories } from "../kit/event-webhooks.js"
import { samples, upload } from "../kit/files.js"

const { w, time, endpoint, hooks } = await webhookStories()
const { acme, rest, sql } = w

const payloads = (secret: string) => endpoint.requests.map((request) => hooks.verified(request, secret).payload)

describe("an endpoint with a query", () => {
  it("gets exactly the fields that it selects, as they were at commit", async () => {
    const query =
      "{ kind: type message { ...Shown media: messageMedia { media { filename url } } } } fragment Shown on Message { role text }"
    const made = await hooks.create(endpoint, { query })
    expect(made.query).toBe(query)
    const { body: file } = await upload(w, acme.token, samples.png, "photo.png").expect(201)
    const chat = await acme.chat({ messenger: "telegram-bot", fromId: "shop" })
    const message = await acme.message({ chatId: chat.id, text: "Look", mediaIds: [file.id] })
    await hooks.fannedOut()
    await sql("update message set text = 'changed later' where id = $1", [message.id])
    await hooks.send()
    const media = [{ media: { filename: "photo.png", url: expect.stringContaining("/media/") } }]
    expect(payloads(made.secret)).toEqual([{ kind: "MESSAGE_CREATED", message: { role: "USER", text: "Look", media } }])
    const [request] = endpoint.requests
    expect(Object.keys(JSON.parse(String(request!.body)))).toEqual(["id", "type", "createdAt", "companyId", "payload"])
  })

  it("gets null for what an event does not have, and the documented payload without a query", async () => {
    const types = ["CHAT_CREATED", "CHAT_DELETED"]
    const made = await hooks.create(endpoint, { types, query: "{ id chat { messenger isUnderAiControl } message { id } }" })
    const chat = await acme.chat()
    await hooks.send()
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    await hooks.send()
    expect(payloads(made.secret)).toEqual([
      { id: endpoint.requests[0]!.headers["webhook-id"], chat: { messenger: "PLAYGROUND", isUnderAiControl: false }, message: null },
      { id: endpoint.requests[1]!.headers["webhook-id"], chat: null, message: null },
    ])
    expect(await hooks.change(made, { query: null })).toMatchObject({ query: null })
    const next = await acme.chat()
    await hooks.send()
    expect(payloads(made.secret)[2]).toEqual({ ...next, lastMessage: null, assistant: null, manager: null })
  })

  it("gets the selection in tests and redeliveries too", async () => {
    const made = await hooks.create(endpoint, { query: "{ type message { text } }" })
    const { body: tested } = await rest.as(acme.token).post(`${hooks.path}/${made.id}/test`).expect(201)
    expect(tested.payload).toEqual({ type: "EVENT_WEBHOOK_TEST", message: null })
    await acme.message({ chatId: (await acme.chat()).id, text: "Hello" })
    await hooks.send()
    const delivery = (await hooks.deliveries(made)).find(({ type }) => type === "MESSAGE_CREATED")
    time.pass(1)
    const { body } = await rest.as(acme.token).post(`${hooks.path}/${made.id}/deliveries/${delivery.id}/redeliver`).expect(201)
    expect(body.payload).toEqual({ type: "MESSAGE_CREATED", message: { text: "Hello" } })
  })

  const deep = (levels: number): string => `{ message ${"{ replyTo ".repeat(levels)} { id } ${"}".repeat(levels)} }`
  it.each([
    ["not GraphQL", "{ type", /Syntax Error/],
    ["nothing", "{ }", /Syntax Error/],
    ["unknown fields", "{ type colour }", /must not select colour/],
    ["unknown fields of a message", "{ message { colour } }", /must not select message.colour/],
    ["what is not stored with an event", "{ message { chat { id } } }", /must not select message.chat, which is not stored with an event/],
    ["what is not stored, in a fragment", "{ chat { ...A } } fragment A on Chat { controlChanges { id } }", /chat.controlChanges/],
    ["an object without its fields", "{ message }", /must have a selection of subfields/],
    ["another operation", "mutation { signOut }", /must be one selection/],
    ["several operations", "query A { type } query B { type }", /must be one selection/],
    ["variables", "query ($a: Boolean!) { type @include(if: $a) }", /must have no variables/],
    ["introspection", "{ __schema { types { name } } }", /must not select __schema/],
    [
      "too many fields",
      `{ ${Array.from({ length: 2_600 }, (_, index) => `a${index}:id`)
        .join(" ")
        .slice(0, 9_990)} }`,
      /query/,
    ],
    ["too many levels", deep(13), /query/],
    ["a circle of fragments", "{ ...A } fragment A on Event { ...B } fragment B on Event { ...A }", /query/],
  ])("is refused when it selects %s", async (_name, query, message) => {
    const body = { url: endpoint.url, types: ["MESSAGE_CREATED"], query }
    const { body: refused } = await rest.as(acme.token).post(hooks.path, body).expect(400)
    expect(refused).toMatchObject({ code: "BAD_USER_INPUT", message: expect.stringMatching(message), details: [{ path: "query" }] })
    const made = await hooks.create(endpoint)
    await rest.as(acme.token).patch(`${hooks.path}/${made.id}`, { query }).expect(400)
  })
})
