import pg from "pg"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { administration } from "../kit/command-line.js"
import { until } from "../kit/wait.js"
import { type WorldOptions, world } from "../kit/world.js"

const vendor = new TelegramBotVendor({ secondMs: 20, pauseMs: () => 5 })
const options: WorldOptions = { PUBLIC_URL: "http://127.0.0.1:1" }
beforeAll(async () => {
  await vendor.listen()
  options["TELEGRAM_BASE_URL"] = vendor.server.url
})
afterAll(() => vendor.close())
const w = world(options)
const { acme, globex, rest, sql } = w
const { done } = administration(w, undefined, () => ({ TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }))

/** More than the database connections of a server. */
const chats = Array.from({ length: 15 }, (_, index) => 700 + index)

// Found by the campaign "take-overs between the beginning of a delivery and its request": the deliveries held all database connections.
it("deliveries that wait for the row of their connection leave database connections to everybody else", async () => {
  const credentials = JSON.stringify({ botToken: vendor.token })
  const account = { messenger: "telegram-bot", "external-id": "shop_bot", name: "Shop", assistant: acme.assistant.id, credentials }
  const connection = await done("channel:connect", { company: acme.id, ...account })
  const other = new pg.Client({ connectionString: w.databaseUrl })
  await other.connect()
  try {
    // As an instance would that stands still in a transaction.
    await other.query("begin")
    await other.query("select 1 from channel where id = $1 for update", [connection.id])
    for (const id of chats) {
      vendor.meet(id)
      const chat = await acme.chat({ messenger: "telegram-bot", fromId: "shop_bot", externalId: String(id) })
      await acme.message({ chatId: chat.id, text: `To ${id}` })
    }
    const begun = "select count(*)::int from chat where delivery_id is not null and company_id = $1"
    await until("all deliveries have begun", async () => (await sql(begun, [acme.id]))[0].count === chats.length)
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await until("a delivery waits for the row", async () => (await sql(waiting)).length > 0)
    await rest.as(globex.token).get("/api/chats").expect(200)
    expect(await sql(waiting)).toHaveLength(1)
    expect(vendor.sent).toEqual([])
  } finally {
    await other.end()
  }
  await until("every customer got the message", () => vendor.sent.length === chats.length)
  expect(vendor.sent.map(({ text }) => text).sort()).toEqual(chats.map((id) => `To ${id}`))
})
