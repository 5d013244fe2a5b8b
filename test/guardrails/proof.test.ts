import fc from "fast-check"
import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { deliver } from "../../src/jobs/deliver.js"
import { reply } from "../../src/jobs/reply.js"
import { administration } from "../kit/command-line.js"
import { type FakeModelRequest, startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { parametersOf } from "../kit/sockets.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { type WorldOptions, world } from "../kit/world.js"
import { settingsOf, unsourced, violations } from "./corpus.js"
import { guardrails } from "./kit.js"

const openAi = await startFakeOpenAi()
const vendor = new TelegramBotVendor({ secondMs: 20, pauseMs: () => 1 })
const options: WorldOptions = { OPENAI_BASE_URL: openAi.url, PUBLIC_URL: "http://127.0.0.1:1" }
beforeAll(async () => {
  await vendor.listen()
  options["TELEGRAM_BASE_URL"] = vendor.server.url
})
afterAll(async () => {
  await vendor.close()
  await openAi.close()
})
const w = world(options)
const { acme, rest, sql } = w
const { done } = administration(w, undefined, () => ({ TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }))
const { write, said } = chatViews(w)
const { guarded, hitsOf } = guardrails(w)
const time = stillTime()

beforeAll(async () => {
  await stopScheduler(w)
  const connection = await done("channel:connect", {
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

interface Planned {
  text: string
  /** What neither the customer nor a socket may get. */
  needle: string
  /** What is stored. */
  expected: string
}

/** A part of a running answer, as subscribers get it. */
interface Shown {
  text: string
  done: boolean
}

/** Cuts a text at random places, the same ones for the same seed. */
const cuts = (text: string, seed: number): string[] => {
  const [sizes] = fc.sample(fc.array(fc.integer({ min: 1, max: 24 }), { minLength: text.length, maxLength: text.length }), {
    numRuns: 1,
    seed,
  })
  const pieces: string[] = []
  for (let [at, index] = [0, 0]; at < text.length; index += 1) {
    // A vendor sends whole characters.
    let end = Math.min(text.length, at + sizes![index]!)
    if (/[\uD800-\uDBFF]/.test(text[end - 1]!)) end += 1
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

let customers = 1_000

/** The chat of a customer who has asked a question over Telegram, with this assistant. */
async function chatOf(assistant: { id: string }, customer: number): Promise<{ id: string }> {
  const from = { id: customer, is_bot: false, first_name: "Ann" }
  vendor.write(
    { id: customer, type: "private", first_name: "Ann" } as never,
    from as never,
    { text: `Question ${customer}: what do you know?` } as never,
  )
  await vendor.hooks.idle()
  const [chat] = await sql("select id from chat where external_id = $1", [String(customer)])
  await rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: assistant.id }).expect(200)
  return chat
}

/** Lets an assistant answer each of a batch of customers, and compares what is stored, delivered and shown while it is written. */
async function play(assistant: { id: string }, batch: Planned[], seed: number): Promise<string[]> {
  const client = createClient({
    url: `${w.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(acme.token),
    retryAttempts: 0,
  })
  const chats: (Planned & { chat: { id: string }; customer: string; shown: Shown[] })[] = []
  for (const planned of batch) {
    customers += 1
    const chat = await chatOf(assistant, customers)
    const shown: Shown[] = []
    const query = "subscription ($id: UUID!) { answerProgress(chatId: $id) { text done } }"
    client.subscribe<{ answerProgress: Shown }>(
      { query, variables: { id: chat.id } },
      { next: ({ data }) => void shown.push(data!.answerProgress), error() {}, complete() {} },
    )
    await until("the server knows the subscription", () => w.services.progress.isWatched(chat.id))
    chats.push({ ...planned, chat, customer: String(customers), shown })
  }
  openAi.reply = async ({ body }: FakeModelRequest) => {
    const [, number] = /Question (\d+)/.exec(body.messages.at(-1).content)!
    const { text } = chats.find(({ customer }) => customer === number)!
    const pieces = cuts(text, seed + Number(number))
    return {
      pieces: (async function* () {
        for (const piece of pieces) {
          yield piece
          await new Promise((resolve) => setImmediate(resolve))
        }
      })(),
    }
  }
  time.pass(4_000)
  await reply.sweep.run(w.services)
  await w.services.running.idle()
  await deliver.sweep.run(w.services)
  await w.services.running.idle()
  const faults: string[] = []
  for (const { chat, needle, expected, customer, shown, text } of chats) {
    await until("the end of the answer is shown", () => shown.at(-1)?.done)
    const [, stored] = await said(chat)
    const sent = vendor.sent.filter(({ chatId }) => String(chatId) === customer).map((message) => message.text ?? "")
    const isShownWell = shown.every(({ text: part }) => expected.startsWith(part))
    const leaks = [stored, ...sent, ...shown.map((each) => each.text)].some((each) => each?.includes(needle))
    const hits = await hitsOf(chat)
    if (stored !== `Assistant: ${expected}` || sent.join("") !== expected || !isShownWell || leaks || hits.length === 0)
      faults.push(JSON.stringify({ text, stored, sent, shown, hits }))
  }
  await client.dispose()
  return faults
}

const batches = <T>(all: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
const sentence = "I may not say that."
const isPersonal = (rule: string) => ["card", "iban", "email", "phone"].includes(rule)

promised("200 planted violations, streamed in pieces of any size: none reaches a customer or a socket", async () => {
  const stops = await guarded(settingsOf("block"))
  const planned = violations.map(({ text, needle }) => ({ text, needle, expected: sentence }))
  for (const [index, batch] of batches(planned, 21).entries()) expect(await play(stops, batch, index)).toEqual([])
  const needsSources = await guarded({ sources: { answer: "block" }, sentence })
  const unfounded = unsourced.map((text) => ({ text, needle: text.slice(0, 8), expected: sentence }))
  expect(await play(needsSources, unfounded, 77)).toEqual([])
})

promised("personal data that is replaced is shown and stored without it, in pieces of any size", async () => {
  const { words: _words, links: _links, length: _length, ...personal } = settingsOf("mask")
  const masks = await guarded(personal)
  const planned = violations
    .filter(({ rule }) => isPersonal(rule))
    .map(({ text, needle }) => ({ text, needle, expected: text.replace(needle, "••••") }))
  for (const [index, batch] of batches(planned, 24).entries()) expect(await play(masks, batch, 100 + index)).toEqual([])
})

it("an answer in which personal data is replaced is shown while it is written", async () => {
  const masks = await guarded({ card: { answer: "mask" } })
  const text = "All lamps have a switch. ".repeat(20).trim()
  const chat = await acme.chat({ assistantId: masks.id })
  const publish = jest.spyOn(w.services.progress, "publish")
  jest.spyOn(w.services.progress, "isWatched").mockReturnValue(true)
  await write(chat)
  let go!: () => void
  const going = new Promise<void>((resolve) => {
    go = resolve
  })
  openAi.reply = async () => ({
    pieces: (async function* () {
      yield text.slice(0, 300)
      await going
      yield text.slice(300)
    })(),
  })
  time.pass(4_000)
  const running = w.runDue()
  await until("a part is shown", () => publish.mock.calls.some(([, progress]) => progress.text.length > 250 && !progress.done))
  go()
  await running
  jest.restoreAllMocks()
  expect((await sql("select text from message where chat_id = $1 and role = 'Assistant'", [chat.id]))[0].text).toBe(text)
})
