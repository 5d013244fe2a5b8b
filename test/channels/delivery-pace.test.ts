import pg from "pg"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { administration } from "../kit/command-line.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = await new TelegramBotVendor({ secondMs: 20, pauseMs: () => 5 }).listen()
afterAll(() => vendor.close())
const telegram = { TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }
const w = world(telegram)
const { acme, globex, rest, sql } = w
const { done } = administration(w, undefined, () => telegram)

/** More than the database connections of a server. */
const chats = Array.from({ length: 15 }, (_, index) => 700 + index)
let connection: { id: string }
/** An instance that stands still in a transaction, in which it has locked the connection. */
let other: pg.Client
let secret: string

beforeAll(async () => {
  const credentials = JSON.stringify({ botToken: vendor.token })
  const account = { messenger: "telegram-bot", "external-id": "shop_bot", name: "Shop", assistant: acme.assistant.id, credentials }
  connection = await done("channel:connect", { company: acme.id, ...account })
  secret = vendor.hook!.secret
  // The tests send updates themselves.
  vendor.hook = null
})
beforeEach(async () => {
  other = new pg.Client({ connectionString: w.databaseUrl })
  await other.connect()
  await other.query("begin")
  await other.query("select 1 from channel where id = $1 for update", [connection.id])
})
afterEach(() => other.end())

// Found by the campaign "take-overs between the beginning of a delivery and its request": the deliveries held all database connections.
it("deliveries that wait for the row of their connection leave database connections to everybody else", async () => {
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
  await other.query("rollback")
  await until("every customer got the message", () => vendor.sent.length === chats.length)
  expect(vendor.sent.map(({ text }) => text).sort()).toEqual(chats.map((id) => `To ${id}`))
})

it("a customer's message is stored and answered with 200 while the row of the connection is locked", async () => {
  const ann = { id: 501, is_bot: false, first_name: "Ann" }
  const post = async (text: string) => {
    const update = vendor.write({ id: 501, type: "private", first_name: "Ann" }, ann, { text })
    const headers = { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret }
    const hook = fetch(`${w.url}/hooks/telegram-bot/${connection.id}`, { method: "POST", headers, body: JSON.stringify(update) })
    return (await happens("the hook answers", hook)).status
  }
  // More than are handled at once.
  for (const text of ["One", "Two", "Three"]) expect(await post(text)).toBe(200)
  const noted = async () => (await sql("select last_inbound_at from channel where id = $1", [connection.id]))[0].last_inbound_at
  expect(await noted()).toBeNull()
  await other.query("rollback")
  expect(await post("Four")).toBe(200)
  expect(await noted()).toEqual(expect.anything())
})
