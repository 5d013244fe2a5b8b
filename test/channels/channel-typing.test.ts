import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { administration } from "../kit/command-line.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { hold } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
const vendor = await new TelegramBotVendor({ secondMs: 20 }).listen()
afterAll(() => Promise.all([openAi.close(), vendor.close()]))
const w = world({ OPENAI_BASE_URL: openAi.url, TELEGRAM_BASE_URL: vendor.server.url, REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50" })
const { acme } = w
const { done } = administration(w, undefined, () => ({ TELEGRAM_BASE_URL: vendor.server.url }))

it("a customer sees that the assistant is typing while the model writes", async () => {
  const { next } = hold(openAi)
  const { id: assistant } = await acme.makeAssistant()
  const account = { company: acme.id, messenger: "telegram-bot", "external-id": "bot", name: "Bot", assistant }
  await done("channel:connect", { ...account, credentials: JSON.stringify({ botToken: vendor.token }) })
  vendor.write({ id: 7, type: "private", first_name: "Ann" }, { id: 7, is_bot: false, first_name: "Ann" }, { text: "Hello" })
  const call = await next()
  await until("the vendor shows that somebody types", () => vendor.typing.includes(7))
  expect(vendor.sent).toEqual([])
  call.answer({ text: "Good day" })
  await until("the answer is sent", () => vendor.sent.find(({ text }) => text === "Good day"))
})
