import { v7 } from "uuid"
import { retention } from "../../src/jobs/retention.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { forgetFiles, samples, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { tablesWith } from "../kit/traces.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const endpoint = await receiver()
const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([openAi.close(), endpoint.close()]))

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql } = w
const { write } = chatViews(w)
const time = stillTime()
let tool: { id: string; assistantId: string }

beforeAll(async () => {
  await stopScheduler(w)
  const { id: assistantId } = await acme.makeAssistant()
  const params = { type: "object", properties: { about: { type: "string" } } }
  tool = await acme.tool({ assistantId, name: "lookUp", params, apiCallUrl: endpoint.url })
})

const keyed = (path: string, body: object, key: string) => rest.as(acme.token).post(path, body).set("Idempotency-Key", key)
const remove = (chat: { id: string }) => rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
const log = async () => (await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs`).expect(200)).body
const eventsOf = (chat: { id: string }) => sql("select type, payload from event where chat_id = $1 order by id", [chat.id])
const onlyItsEnd = (chat: { id: string }) => [{ type: "CHAT_DELETED", payload: { value: { chatId: chat.id } } }]

/** A chat that has the text in everything that a chat can have: its name, messages, comments, files, a tool call, stored responses. */
async function chatFullOf(word: string) {
  const opened = { messenger: "telegram-bot", fromId: "shop", externalId: word, name: word, assistantId: tool.assistantId }
  const { body: chat } = await keyed("/api/chats", opened, `chat-${v7()}`).expect(201)
  const { body: file } = await upload(w, acme.token, samples.png, `${word}.png`).set("Idempotency-Key", `file-${chat.id}`).expect(201)
  const sent = { chatId: chat.id, text: word, mediaIds: [file.id] }
  const { body: quoted } = await keyed("/api/messages", sent, `message-${chat.id}`).expect(201)
  await rest.as(acme.token).post("/api/messages", { chatId: chat.id, text: "yes", replyToMessageId: quoted.id }).expect(201)
  await rest.as(acme.token).post(`/api/chats/${chat.id}/meta/comments`, { text: word }).expect(201)
  await write(chat, `About ${word}?`)
  time.pass(4_000)
  return chat
}

function callsTheTool(word: string) {
  const replies = [{ toolCalls: [{ id: "call_1", name: "lookUp", arguments: { about: word } }] }, { text: `So it is with ${word}.` }]
  openAi.reply = async () => replies.shift() ?? replies[1]!
}

it("nothing that a deleted chat held is in the database, and its tool calls are still counted", async () => {
  const word = "Zwetschgenkuchen"
  const after = await endOfLog(w)
  const { stats } = await log()
  callsTheTool(word)
  endpoint.answer({ json: { found: word } })
  const chat = await chatFullOf(word)
  await w.runDue()
  const places = ["chat", "event", "idempotency_key", "media", "message", "tool_call"]
  expect(await tablesWith(w, word)).toEqual(places)

  await remove(chat)
  expect(await tablesWith(w, word)).toEqual(["idempotency_key", "media"])
  await forgetFiles(w, acme.id)
  expect(await tablesWith(w, word)).toEqual([])
  expect(await eventsOf(chat)).toEqual(onlyItsEnd(chat))

  const heard = await subscribe(w, acme.token, { after, chatId: chat.id })
  expect(await heard.next()).toMatchObject({ type: "CHAT_DELETED", payload: { chatId: chat.id } })
  await heard.stop()
  const { data, stats: now } = await log()
  expect(data[0]).toMatchObject({ chatId: null, params: {}, response: null, responseStatus: 200, status: "success", success: true })
  expect(now).toMatchObject({ total: stats.total + 1, success: stats.success + 1 })
})

it("a tool call that ends after its chat was deleted records its outcome without its body", async () => {
  const word = "Pflaumenmus"
  callsTheTool(word)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const before = endpoint.requests.length
  endpoint.answer(async () => {
    await held
    return { json: { found: word } }
  })
  const chat = await chatFullOf(word)
  const done = w.runDue()
  await endpoint.arrived(before + 1)
  await remove(chat)
  release()
  await done
  await forgetFiles(w, acme.id)
  expect(await tablesWith(w, word)).toEqual([])
  expect((await log()).data[0]).toMatchObject({ params: {}, response: null, responseStatus: 200, status: "success" })
})

it("what other chats, tests of tools and other answers hold stays", async () => {
  const [gone, kept] = [await acme.chat(), await acme.chat()]
  const { body: message } = await keyed("/api/messages", { chatId: kept.id, text: "stays" }, "stays").expect(201)
  endpoint.answer({ json: { found: "it" } })
  await rest
    .as(acme.token)
    .post(`/api/assistant-tools-new/${tool.id}/test`, { params: { about: "test" } })
    .expect(201)
  await remove(gone)
  expect((await keyed("/api/messages", { chatId: kept.id, text: "stays" }, "stays").expect(201)).body).toEqual(message)
  expect((await eventsOf(kept)).map(({ type }) => type)).toEqual(["CHAT_CREATED", "MESSAGE_CREATED"])
  expect((await log()).data[0]).toMatchObject({ params: { about: "test" }, response: { found: "it" } })
})

describe("many events of a chat", () => {
  const many = (chat: { id: string }) =>
    sql(
      `insert into event (position, company_id, chat_id, type, payload, created_at)
       select last_position, $1, $2, 'MESSAGE_CREATED', '{"value": "much"}', now() from event_log, generate_series(1, 2500)`,
      [acme.id, chat.id],
    )

  it("are all deleted with it", async () => {
    const chat = await acme.chat()
    await many(chat)
    await remove(chat)
    expect(await eventsOf(chat)).toEqual(onlyItsEnd(chat))
  })

  promised("that a crash left behind are deleted by the sweep, those of other chats are not", async () => {
    const [gone, kept] = [await acme.chat(), await acme.chat()]
    await remove(gone)
    await many(gone)
    await many(kept)
    await retention.run(w.services)
    expect(await eventsOf(gone)).toEqual(onlyItsEnd(gone))
    expect(await eventsOf(kept)).toHaveLength(2501)
  })
})
