import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { deliver } from "../../src/jobs/deliver.js"
import { administration } from "../kit/command-line.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = await new TelegramBotVendor({ secondMs: 20 }).listen()
afterAll(() => vendor.close())
// Without PUBLIC_URL the server asks Telegram for updates.
const telegram = { TELEGRAM_BASE_URL: vendor.server.url }
const w = world({ ...telegram, REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50" })
const { acme, gql, rest, sql } = w
const { done } = administration(w, undefined, () => telegram)

const ann = { id: 7, is_bot: false, first_name: "Ann" }
const chat = { id: 7, type: "private" as const, first_name: "Ann" }
const account = () => ({ company: acme.id, messenger: "telegram-bot", "external-id": "bot", name: "Bot", assistant: acme.assistant.id })
let id: string
const channel = async () =>
  (await gql(acme.token, "{ channels { id problem queued } }")).data.channels.find((each: { id: string }) => each.id === id)
const textsOf = async () =>
  (await sql("select text from message m join chat c on c.id = m.chat_id where c.external_id = '7' order by sequence")).map(
    ({ text }) => text,
  )

promised("a bot without a public address is answered over polling, in order, each update once", async () => {
  for (const text of ["One", "Two", "When are you open?"]) vendor.write(chat, ann, { text })
  ;({ id } = await done("channel:connect", { ...account(), credentials: JSON.stringify({ botToken: vendor.token }) }))
  await until("the answer is sent", () => vendor.sent.find(({ text }) => text?.includes("9:00")))
  vendor.write(chat, ann, { text: "Thanks" })
  await until("the customer's next message is stored", async () => (await textsOf()).includes("Thanks"))
  expect((await textsOf()).filter((text) => ["One", "Two", "When are you open?", "Thanks"].includes(text))).toEqual([
    "One",
    "Two",
    "When are you open?",
    "Thanks",
  ])
})

it("a tap on a button that a poll brings is answered, so that the customer's app stops waiting", async () => {
  vendor.tap(chat, ann, vendor.sent[0]!.messageId, "Yes, please")
  await until("the tap is answered", () => vendor.answeredTaps.length === 1)
  expect(await textsOf()).toContain("Yes, please")
})

it("a token that was revoked is shown, deliveries wait, and new credentials send them", async () => {
  const [{ id: chatId }] = await sql("select id from chat where external_id = '7'")
  // No answer of the assistant comes between.
  const off = { isUnderAiControl: false, aiDisableReason: "manual" }
  await rest.as(acme.token).patch(`/api/chats/${chatId}/ai-control`, off).expect(200)
  await until("nothing is queued", async () => (await channel()).queued === 0)
  const token = vendor.token
  Object.assign(vendor, { token: "123456:another" })
  // A poll that began before may still succeed, and would show the channel without a problem once more.
  await until("a poll was refused", async () => (await channel()).problem)
  const { id: messageId } = await acme.message({ chatId, text: "Can you read this?" })
  expect(await channel()).toMatchObject({ problem: "401: Unauthorized", queued: 1 })
  await until(
    "a delivery has failed",
    async () => (await sql("select failures from channel_message where message_id = $1", [messageId]))[0]?.failures > 0,
  )
  expect(await sql("select type from event where type = 'CHANNEL_UPDATED' and company_id = $1", [acme.id])).toHaveLength(1)

  await done("channel:set-credentials", { id, credentials: JSON.stringify({ botToken: vendor.token }) })
  await deliver.sweep.run(w.services)
  await until("the message is sent", () => vendor.sent.find(({ text }) => text === "Can you read this?"))
  await until("nothing is queued", async () => (await channel()).queued === 0)
  expect((await channel()).problem).toBeNull()
  Object.assign(vendor, { token })
  await done("channel:set-credentials", { id, credentials: JSON.stringify({ botToken: token }) })
})

it("a disconnected bot is polled no more, and its messages are not sent", async () => {
  await done("channel:disconnect", { id })
  const [{ id: chatId }] = await sql("select id from chat where external_id = '7'")
  await until("the poll has ended", async () => (await sql("select poll_id from channel where id = $1", [id]))[0].poll_id === null)
  const calls = vendor.server.calls.filter(({ path }) => path.endsWith("getUpdates")).length
  const { id: messageId } = await acme.message({ chatId, text: "Gone" })
  await until(
    "the message has failed",
    async () => (await sql("select status from message where id = $1", [messageId]))[0].status === "failed",
  )
  expect(vendor.server.calls.filter(({ path }) => path.endsWith("getUpdates"))).toHaveLength(calls)
})
