import { v7 } from "uuid"
import { administration, adminProcess, killedWhen } from "../kit/command-line.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { folderOfItsOwn, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { subscribe } from "../kit/sockets.js"
import { filesWith, tablesWith } from "../kit/traces.js"
import { openTransaction } from "../kit/transaction.js"
import { chatViews, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const endpoint = await receiver()
const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([openAi.close(), endpoint.close()]))

const folder = folderOfItsOwn()
const w = world({ OPENAI_BASE_URL: openAi.url, DATA_DIR: folder })
const { acme, globex, rest, sql } = w
const { write } = chatViews(w)
const { done } = administration(w, adminProcess)
const inThisProcess = administration(w)
const time = stillTime()
let tool: { id: string; assistantId: string }

beforeAll(async () => {
  await stopScheduler(w)
  const { id: assistantId } = await acme.makeAssistant()
  const params = { type: "object", properties: { about: { type: "string" } } }
  tool = await acme.tool({ assistantId, name: "lookUp", params, apiCallUrl: endpoint.url })
})

/** A chat that has the word in everything that a chat can have: name, messages, comments, a file with its content, stored responses. */
async function chatFullOf(word: string, fields: object, company = acme) {
  const keyed = (path: string, body: object) =>
    rest
      .as(company.token)
      .post(path, body)
      .set("Idempotency-Key", v7())
      .expect(201)
      .then((answer) => answer.body)
  const chat = await keyed("/api/chats", { messenger: "telegram-bot", fromId: "shop", name: word, ...fields })
  const file = Buffer.from(`A letter about ${word}`)
  const { body: media } = await upload(w, company.token, file, `${word}.txt`).set("Idempotency-Key", v7()).expect(201)
  await keyed("/api/messages", { chatId: chat.id, text: word, mediaIds: [media.id] })
  await rest.as(company.token).post(`/api/chats/${chat.id}/meta/comments`, { text: word }).expect(201)
  return { ...chat, mediaId: media.id }
}

/** Has the assistant of a chat call its tool about the word, and answer. */
async function conversation(chat: { id: string }, word: string) {
  const replies = [{ toolCalls: [{ id: "call_1", name: "lookUp", arguments: { about: word } }] }, { text: `So it is with ${word}.` }]
  openAi.reply = async () => replies.shift() ?? replies[1]!
  endpoint.answer({ json: { found: word } })
  await write(chat, `About ${word}?`)
  time.pass(4_000)
  await w.runDue()
}

const rowsOfChat = (chat: { id: string }) => sql("select * from message where chat_id = $1 order by sequence", [chat.id])
const everything = async (chat: { id: string; mediaId: string }) => [
  await sql("select * from chat where id = $1", [chat.id]),
  await rowsOfChat(chat),
  // A file that loses one of its chats is looked at, which changes its times.
  await sql("select id, company_id, filename, size, sha256, storage_key from media where id = $1", [chat.mediaId]),
  await sql("select id, type, payload from event where chat_id = $1 order by id", [chat.id]),
]

promised("erases every chat of the customer on all channels, with all that they hold, and nothing of another", async () => {
  const [word, kept] = ["Zwetschgenkuchen", "Pflaumenmus"]
  const first = await chatFullOf(word, { externalId: "ada-77", assistantId: tool.assistantId })
  await conversation(first, word)
  const second = await chatFullOf(word, { externalId: "ada-77", messenger: "viber-echat" })
  const others = [
    await chatFullOf(kept, { externalId: "ada-777" }),
    await chatFullOf(kept, { externalId: "ada-77-group", username: "ada-77", chatType: "group" }),
    await chatFullOf(kept, { externalId: "ada-77" }, globex),
  ]
  // A file of both customers stays with the other.
  await acme.message({ chatId: others[0]!.id, mediaIds: [others[0]!.mediaId] })
  await acme.message({ chatId: second.id, mediaIds: [others[0]!.mediaId] })
  const before = await Promise.all(others.map(everything))
  expect(await tablesWith(w, word)).toEqual(["chat", "event", "idempotency_key", "media", "message", "tool_call"])
  expect(filesWith(folder, word)).toHaveLength(2)
  const messages = (await rowsOfChat(first)).length + (await rowsOfChat(second)).length

  const heard = await subscribe(w, acme.token, { types: ["CHAT_DELETED"] })
  const receipt = await done("customer:erase", { company: acme.id, customer: "ada-77" })
  expect(receipt).toEqual({
    command: "customer:erase",
    companyId: acme.id,
    customer: "ada-77",
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
    records: { Chat: 2, Message: messages, Call: 0, ToolCall: 1, Media: 2 },
    chats: [first, second].map(({ id, messenger }) => ({ id, messenger })),
  })
  expect(await tablesWith(w, word)).toEqual([])
  expect(filesWith(folder, word)).toEqual([])
  for (const { id } of [first, second]) {
    expect(await heard.next()).toMatchObject({ type: "CHAT_DELETED", payload: { chatId: id } })
    await rest.as(acme.token).get(`/api/chats/${id}`).expect(404)
    const events = await sql("select type, payload from event where chat_id = $1", [id])
    expect(events).toEqual([{ type: "CHAT_DELETED", payload: { value: { chatId: id } } }])
  }
  await heard.stop()
  expect(await Promise.all(others.map(everything))).toEqual(before)
  expect(filesWith(folder, kept)).toHaveLength(3)

  const again = await done("customer:erase", { company: acme.id, customer: "ada-77" })
  expect(again).toMatchObject({ records: { Chat: 0, Message: 0, Call: 0, ToolCall: 0, Media: 0 }, chats: [] })
  expect(await Promise.all(others.map(everything))).toEqual(before)
})

it("erases a chat in the middle of a turn: what the model answers is not stored", async () => {
  const word = "Apfelstrudel"
  const chat = await chatFullOf(word, { externalId: "bob-1", assistantId: tool.assistantId })
  const model = hold(openAi)
  await write(chat, `About ${word}?`)
  time.pass(4_000)
  const turn = w.runDue()
  const call = await model.next()
  expect(await done("customer:erase", { company: acme.id, customer: "bob-1" })).toMatchObject({ records: { Chat: 1 } })
  call.answer({ text: `So it is with ${word}.` })
  await turn
  expect(await tablesWith(w, word)).toEqual([])
  expect(filesWith(folder, word)).toEqual([])
})

promised("killed in between, is completed by the next run", async () => {
  const word = "Marillenknoedel"
  for (let part = 0; part < 6; part += 1) await chatFullOf(word, { externalId: "dan-1", fromId: `shop-${part}` })
  const left = async () => (await sql("select count(*)::integer as n from chat where external_id = 'dan-1'"))[0].n
  const options = { company: acme.id, customer: "dan-1" }
  // The command waits for the last chat, which is locked, and is killed there.
  await using holder = await openTransaction(w.databaseUrl)
  await holder.query("select from chat where id = (select max(id::text) from chat where external_id = 'dan-1')::uuid for update")
  await administration(
    w,
    killedWhen(async () => (await left()) < 6),
  ).run("customer:erase", options)
  await holder.rollback()
  const runs = "select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()"
  await until("the killed command's statement has ended", async () => (await sql(runs)).length === 0)
  const rest = await left()
  expect(rest).toBeGreaterThan(0)
  expect(await tablesWith(w, word)).not.toEqual([])
  expect((await inThisProcess.done("customer:erase", options)).records.Chat).toBe(rest)
  expect(await tablesWith(w, word)).toEqual([])
  expect(filesWith(folder, word)).toEqual([])
})

promised("run again, completes what a crash has left", async () => {
  const word = "Kaiserschmarrn"
  const chat = await chatFullOf(word, { externalId: "eve-1" })
  // What is committed when the process dies right after the transaction that deletes the chat.
  await sql("delete from idempotency_key where payload::text like '%' || $1 || '%' and not payload ? 'media'", [word])
  await sql("delete from chat where id = $1", [chat.id])
  await sql(
    "insert into event (company_id, chat_id, type, payload, created_at) values ($1, $2, 'CHAT_DELETED', jsonb_build_object('value', jsonb_build_object('chatId', $2::uuid)), now())",
    [acme.id, chat.id],
  )
  expect(await tablesWith(w, word)).toEqual(["event", "idempotency_key", "media"])
  expect(await done("customer:erase", { company: acme.id, customer: "eve-1" })).toMatchObject({ chats: [] })
  expect(await tablesWith(w, word)).toEqual([])
  expect(filesWith(folder, word)).toEqual([])
})

it("finds a customer by phone number and user name, in private chats only", async () => {
  const named = { phoneNumber: "+49 (170) 555-1", username: "@Carla" }
  const byPhone = await acme.chat({ messenger: "whatsapp-business", phoneNumber: named.phoneNumber })
  const byUsername = await acme.chat({ messenger: "instagram", username: named.username })
  const blank = await acme.chat({ messenger: "instagram", username: "", phoneNumber: "-" })
  const erased = async (customer: string) =>
    (await inThisProcess.done("customer:erase", { company: acme.id, customer })).chats.map(({ id }: { id: string }) => id)
  for (const customer of ["@", "()", "-", "%", "nobody"]) expect(await erased(customer)).toEqual([])
  expect(await erased("+491705551")).toEqual([byPhone.id])
  expect(await erased("carla")).toEqual([byUsername.id])
  await rest.as(acme.token).get(`/api/chats/${blank.id}`).expect(200)
})

it("is refused without a customer, and for an unknown company", async () => {
  expect(await inThisProcess.refused(2, "customer:erase", { company: acme.id })).toMatch(/--customer is needed/)
  expect(await inThisProcess.refused(2, "customer:erase", { company: acme.id, customer: " " })).toMatch(/--customer is needed/)
  expect(await inThisProcess.refused(1, "customer:erase", { company: v7(), customer: "ada-77" })).toMatch(/No company has the id/)
})
