import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { administration } from "../kit/command-line.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = await new TelegramBotVendor({ secondMs: 20, pauseMs: () => 5 }).listen()
afterAll(() => vendor.close())
const telegram = { TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }
const w = world({ ...telegram, REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50" })
const { acme, rest, gql, sql } = w
const { done, refused } = administration(w, undefined, () => telegram)

const ann = { id: 501, is_bot: false, first_name: "Ann", last_name: "Lee", username: "annlee" }
const annsChat = { id: 501, type: "private", first_name: "Ann", last_name: "Lee", username: "annlee" } as never
let connection: { id: string; hookUrl: string }

const messagesOf = async (chatId: string) =>
  (await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=100`).expect(200)).body.data.reverse()
const chatOf = async (externalId: string) => (await sql("select * from chat where external_id = $1", [externalId]))[0]

beforeAll(async () => {
  connection = await done("channel:connect", {
    company: acme.id,
    messenger: "telegram-bot",
    "external-id": "shop_bot",
    name: "Shop",
    assistant: acme.assistant.id,
    credentials: JSON.stringify({ botToken: vendor.token }),
  })
  // The public address leads to this server.
  vendor.hook = { url: `${w.url}/hooks/telegram-bot/${connection.id}`, secret: vendor.hook!.secret }
})

describe("a Telegram bot", () => {
  it("is connected with credentials that Telegram has checked, and refuses others in its words", async () => {
    expect(vendor.server.calls.map(({ path }) => path.split("/").at(-1))).toEqual(expect.arrayContaining(["getMe", "setWebhook"]))
    expect(
      await refused(1, "channel:connect", {
        company: acme.id,
        messenger: "telegram-bot",
        "external-id": "other",
        name: "Other",
        credentials: '{"botToken":"1:wrong"}',
      }),
    ).toMatch(/401: Unauthorized/)
    expect(await sql("select 1 from channel where external_id = 'other'")).toEqual([])
  })

  it("gets a customer's question, and the customer gets the assistant's answer", async () => {
    vendor.write(annsChat, ann as never, { text: "When are you open?" } as never)
    const answer = await until("an answer is sent", () => vendor.sent.at(-1))
    expect(answer).toMatchObject({ chatId: 501, method: "sendMessage", text: expect.stringContaining("9:00") })
    const chat = await chatOf("501")
    expect(chat).toMatchObject({
      name: "Ann Lee",
      username: "annlee",
      messenger: "telegram-bot",
      from_id: "shop_bot",
      is_under_ai_control: true,
    })
    const sent = await until("a message is stored as sent", async () =>
      (await messagesOf(chat.id)).find(({ status }: { status: string }) => status === "sent"),
    )
    expect(sent).toMatchObject({ role: "Assistant", externalId: String(answer.messageId), sentAt: expect.any(String) })
  })

  promised("stores a repeated update once", async () => {
    const before = await messagesOf((await chatOf("501")).id)
    const update = vendor.write(annsChat, ann as never, { text: "Thank you" } as never)
    await vendor.hooks.idle()
    const repeated = await vendor.hooks.post(JSON.stringify(update))
    expect(repeated.status).toBe(200)
    const after = await messagesOf((await chatOf("501")).id)
    expect(after.filter(({ text }: { text: string }) => text === "Thank you")).toHaveLength(1)
    expect(after.length).toBeGreaterThan(before.length)
  })

  it("brings a photo, which is announced at once and then fetched", async () => {
    const { chat: png } = {
      chat: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"),
    }
    const photo = { ...vendor.upload(png, "photos/file_1.png"), width: 1, height: 1 }
    vendor.write(annsChat, ann as never, { photo: [photo], caption: "My parcel" } as never)
    const chat = await chatOf("501")
    const ready = await until("the photo is fetched", async () =>
      (await messagesOf(chat.id)).find(
        (each: { messageMedia: { media: { status: string } }[] }) => each.messageMedia[0]?.media.status === "ready",
      ),
    )
    expect(ready).toMatchObject({ role: "Customer", type: "Photo", text: "My parcel" })
    const { url, mimeType, size } = ready.messageMedia[0].media
    expect([mimeType, size]).toEqual(["image/png", png.length])
    expect(url).toContain("/media/")
    const events = await sql("select type from event where chat_id = $1 and payload -> 'message' ->> 'id' = $2 order by id", [
      chat.id,
      ready.id,
    ])
    expect(events.map(({ type }) => type)).toEqual(["MESSAGE_CREATED", "MESSAGE_UPDATED"])
  })

  promised("keeps the order of a person's messages while Telegram refuses the first one for a while", async () => {
    const chat = await chatOf("501")
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" }).expect(200)
    await until("no message is queued", async () =>
      (await messagesOf(chat.id)).every(({ status }: { status: string }) => status !== "queued"),
    )
    const before = vendor.sent.length
    vendor.faults.next({ fault: "429", retryAfter: 0 })
    for (const text of ["one", "two", "three"]) await acme.message({ chatId: chat.id, text })
    await until("three messages are sent", () => vendor.sent.length === before + 3)
    expect(vendor.sent.slice(before).map(({ text }) => text)).toEqual(["one", "two", "three"])
  })

  it("tells why a message failed for good, and sends it again on request", async () => {
    const chat = await chatOf("501")
    vendor.blocked.add(501)
    const { id } = await acme.message({ chatId: chat.id, text: "Are you there?" })
    const read = async () =>
      (await gql(acme.token, "query ($id: UUID!) { message(id: $id) { status deliveryError deliveryErrorCode } }", { id })).data.message
    expect(await until("the message has failed", async () => ((await read()).status === "FAILED" ? read() : null))).toEqual({
      status: "FAILED",
      deliveryError: "403: Forbidden: bot was blocked by the user",
      deliveryErrorCode: "RECIPIENT_UNREACHABLE",
    })
    vendor.blocked.delete(501)
    const { data } = await gql(acme.token, "mutation ($id: UUID!) { retryMessage(id: $id) { status } }", { id })
    expect(data.retryMessage.status).toBe("QUEUED")
    await until("the message is sent", async () => (await read()).status === "SENT")
    expect(vendor.sent.at(-1)).toMatchObject({ text: "Are you there?" })
  })

  it("splits a long text, and counts it as one message", async () => {
    const chat = await chatOf("501")
    const before = vendor.sent.length
    const text = "A sentence that is repeated until it is long. ".repeat(120).trim()
    const { id } = await acme.message({ chatId: chat.id, text })
    await until("the message is sent", async () => (await sql("select status from message where id = $1", [id]))[0].status === "sent")
    const parts = vendor.sent.slice(before).map((each) => each.text!)
    expect(parts).toHaveLength(2)
    expect(parts.join(" ")).toBe(text)
  })

  it("refuses a hook without the secret (401), too large (413), of an unknown connection (404), and what is no JSON (400)", async () => {
    const url = `/hooks/telegram-bot/${connection.id}`
    const secret = { "X-Telegram-Bot-Api-Secret-Token": vendor.hook!.secret }
    await rest.as(null).post(url, {}).expect(401)
    await rest
      .as({ ...secret, "X-Telegram-Bot-Api-Secret-Token": "wrong" })
      .post(url, {})
      .expect(401)
    await rest.as(secret).post("/hooks/telegram-bot/0190a0b0-0000-7000-8000-000000000000", {}).expect(404)
    await rest.as(secret).post("/hooks/telegram-bot/nonsense", {}).expect(404)
    await rest.as(secret).post(url, { update_id: 1, unknown: {} }).expect(200)
  })
})
