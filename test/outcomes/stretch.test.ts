import { setQuietHours } from "../../src/chats/stretch.js"
import { quietStretches } from "../../src/jobs/quiet-stretches.js"
import { rebuildStretches } from "../../src/jobs/rebuild-stretches.js"
import type { Person } from "../kit/company-fixture.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const second = 1_000
const hour = 60 * 60 * second
const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())
beforeEach(() => {
  openAi.reply = async () => ({ text: "An answer" })
})

describe("a stretch of a chat, with a stopped clock", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, globex, rest, gql } = w
  const { write } = chatViews(w)
  const time = stillTime()
  let ada: { id: string }

  /** Another one for each test, whose session has not expired. */
  let colleague: Person
  beforeEach(async () => {
    colleague = await acme.person()
  })
  afterEach(() => answer())
  beforeAll(async () => {
    await stopScheduler(w)
    ada = await acme.makeAssistant({ name: "Ada", prompt: "You are Ada." })
  })

  const iso = () => new Date(time.now()).toISOString()
  /** The stretches of a chat, oldest first. */
  const stretches = async (chat: { id: string }) =>
    (await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)).body.data.reverse()
  const only = async (chat: { id: string }) => {
    const all = await stretches(chat)
    expect(all).toHaveLength(1)
    return all[0]
  }
  const end = (chat: { id: string }) => rest.as(colleague.jwt).post(`/api/chats/${chat.id}/end-stretch`).expect(201)
  /** The assistant answers what waits, so many milliseconds after the message. */
  const answer = async (ms = 4 * second) => {
    time.pass(ms)
    await w.runDue()
  }
  const person = (chat: { id: string }, credential = colleague.jwt) =>
    rest.as(credential).post("/api/messages", { chatId: chat.id, text: "A person here" }).expect(201)
  const control = (chat: { id: string }, isUnderAiControl: boolean, credential = colleague.jwt) =>
    rest.as(credential).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl }).expect(200)
  const chatOfAda = () => acme.chat({ assistantId: ada.id })

  it("begins with the customer's message, counts what follows, and ends with its outcome", async () => {
    const chat = await chatOfAda()
    const startedAt = iso()
    const first = await write(chat)
    const nobody = { ai: null, people: null }
    expect(await only(chat)).toEqual({
      ...{ id: first.id, companyId: acme.id, chatId: chat.id, messenger: "playground", assistantId: ada.id },
      ...{ startedAt, endedAt: null, endReason: null, outcome: null, reopened: false },
      ...{ messages: { customer: 1, assistant: 0, user: 0 }, firstAnswerMs: nobody, medianAnswerMs: nobody },
      ...{ handedOffAt: null, handOffReason: null, personId: null, returnedAt: null, toolCalls: 0, toolFailures: 0 },
      ...{ knowledgeSearches: 0, knowledgeMisses: 0, inputTokens: 0, outputTokens: 0, ratingAskedAt: null, rating: null, ratingText: null },
      ...{ createdAt: startedAt, updatedAt: startedAt },
    })
    time.pass(1_500)
    await write(chat, "Are you there?")
    await answer(5_000)
    await write(chat, "And another thing")
    await answer()
    const { body: ended } = await end(chat)
    expect(ended).toMatchObject({
      ...{ endedAt: iso(), endReason: "PERSON", outcome: "AI_ALONE", messages: { customer: 3, assistant: 2, user: 0 } },
      ...{ firstAnswerMs: { ai: 6_500, people: null }, medianAnswerMs: { ai: 5_250, people: null }, inputTokens: 22, outputTokens: 14 },
    })
    time.pass(second)
    expect((await end(chat)).body).toEqual(ended)
    expect(await only(chat)).toEqual(ended)
    await rest
      .as(colleague.jwt)
      .post(`/api/chats/${(await chatOfAda()).id}/end-stretch`)
      .expect(404)
  })

  it("knows the hand-off, who took over, and the return", async () => {
    const chat = await chatOfAda()
    await write(chat)
    openAi.reply = async () => ({ text: "I get somebody.", toolCalls: [{ name: "turnOffAiMode" }] })
    await answer()
    const handedOffAt = iso()
    time.pass(90 * second)
    await control(chat, false)
    time.pass(10 * second)
    await person(chat)
    time.pass(60 * second)
    await control(chat, true)
    const returnedAt = iso()
    expect(await only(chat)).toMatchObject({
      ...{ handedOffAt, handOffReason: "assistant", personId: colleague.id, returnedAt, toolCalls: 1, toolFailures: 0 },
      // The customer waited for a person since the hand-off, though the assistant had written.
      ...{ firstAnswerMs: { ai: 4_000, people: 100_000 }, messages: { customer: 1, assistant: 1, user: 1 } },
    })
    expect((await end(chat)).body).toMatchObject({ outcome: "AI_THEN_PERSON" })
  })

  it("knows why AI stopped: a person, an integration, or an answer that failed", async () => {
    const [taken, integrated, failed] = [await chatOfAda(), await chatOfAda(), await chatOfAda()]
    for (const chat of [taken, integrated, failed]) await write(chat)
    await control(taken, false)
    await control(integrated, false, acme.token)
    openAi.reply = async () => ({ status: 500 })
    for (let tries = 0; tries < 6; tries++) await answer(60 * second)
    expect(await only(taken)).toMatchObject({ handOffReason: "person", personId: colleague.id })
    expect(await only(integrated)).toMatchObject({ handOffReason: "integration", personId: null })
    expect(await only(failed)).toMatchObject({ handOffReason: "failure", personId: null })
    time.pass(second)
    await person(failed)
    expect((await end(failed)).body).toMatchObject({ outcome: "PERSON_ALONE", personId: colleague.id })
    expect((await end(taken)).body).toMatchObject({ outcome: "UNANSWERED", handedOffAt: expect.any(String) })
  })

  it("is no hand-off when AI was off already", async () => {
    const chat = await acme.chat()
    await write(chat)
    await control(chat, false)
    expect(await only(chat)).toMatchObject({ handedOffAt: null, handOffReason: null, personId: colleague.id })
  })

  it("ends after quiet hours at the same time, whether the sweep or the next message finds it", async () => {
    const [swept, found, late] = [await acme.chat(), await acme.chat(), await acme.chat()]
    for (const chat of [swept, found, late]) await write(chat)
    time.pass(23 * hour)
    for (const chat of [swept, found, late]) await person(chat)
    const lastMessage = time.now()
    time.pass(24 * hour - 1)
    await quietStretches.run(w.services)
    expect(await only(swept)).toMatchObject({ endedAt: null })
    time.pass(1)
    // Written after the quiet hours: these belong to no stretch, and to the next one.
    await person(late)
    await write(found)
    const ended = { endedAt: new Date(lastMessage + 24 * hour).toISOString(), endReason: "QUIET", outcome: "PERSON_ALONE" }
    await quietStretches.run(w.services)
    const facts = { ...ended, messages: { customer: 1, assistant: 0, user: 1 } }
    for (const chat of [swept, late]) expect(await only(chat)).toMatchObject(facts)
    const [before, after, ...more] = await stretches(found)
    expect(more).toEqual([])
    expect(before).toMatchObject(facts)
    expect(after).toMatchObject({ startedAt: iso(), endedAt: null, messages: { customer: 1, assistant: 0, user: 0 } })
  })

  it("is found by its chat alone, whatever the statistics of the database say", async () => {
    const open = await w.sql(
      `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = 'stretch'::regclass and pg_get_expr(i.indpred, i.indrelid) like '%ended_at%'`,
    )
    expect(open).toEqual([{ name: "stretch_open" }])
  })

  it("ends by quiet hours that were changed since its last message, on connections that know the old ones", async () => {
    const [chat, other] = [await acme.chat(), await acme.chat()]
    for (const each of [chat, other, chat]) await write(each)
    await using started = new AsyncDisposableStack()
    started.defer(() => setQuietHours(w.services.database, w.services.config.stretchQuietHours))
    await setQuietHours(w.services.database, 2)
    const lastMessage = time.now()
    time.pass(2 * hour - 1)
    await write(chat)
    time.pass(1)
    await write(other)
    expect(await only(chat)).toMatchObject({ endedAt: null, messages: { customer: 3 } })
    const [before] = await stretches(other)
    expect(before).toMatchObject({ endedAt: new Date(lastMessage + 2 * hour).toISOString(), endReason: "QUIET" })
  })

  it("is reopened when the customer writes within 72 hours after AI alone had answered", async () => {
    const [soon, later, helped] = [await chatOfAda(), await chatOfAda(), await chatOfAda()]
    for (const chat of [soon, later, helped]) await write(chat)
    await answer()
    await person(helped)
    for (const chat of [soon, later, helped]) await end(chat)
    time.pass(72 * hour)
    for (const chat of [soon, helped]) await write(chat)
    time.pass(1)
    await write(later)
    const reopened = await Promise.all([soon, later, helped].map(async (chat) => (await stretches(chat))[0].reopened))
    expect(reopened).toEqual([true, false, false])
  })

  it("does not begin with a message of the company, and counts neither notes of the server nor tool frames", async () => {
    const chat = await chatOfAda()
    await person(chat)
    expect(await stretches(chat)).toEqual([])
    await rest.as(acme.token).post("/api/messages", { chatId: chat.id, text: "A note", role: "System" }).expect(201)
    await write(chat)
    await rest.as(acme.token).post("/api/messages", { chatId: chat.id, text: "A note", role: "System" }).expect(201)
    const tool = await acme.tool({ assistantId: ada.id, name: "nobody_listens" })
    let round = 0
    openAi.reply = async () => (round++ === 0 ? { toolCalls: [{ name: tool.name, arguments: {} }] } : { text: "I cannot see it." })
    await answer()
    expect(await only(chat)).toMatchObject({
      ...{ messages: { customer: 1, assistant: 1, user: 0 }, toolCalls: 1, toolFailures: 1, inputTokens: 22, outputTokens: 14 },
    })
  })

  it("counts searches of the knowledge, and those that found nothing", async () => {
    const item = { assistantId: ada.id, name: "Returns", kind: "text", isVector: true, resourceContent: "Returns are free for 30 days." }
    await acme.makeKnowledge(item)
    const { indexKnowledge } = await import("../../src/jobs/index-knowledge.js")
    await indexKnowledge.sweep.run(w.services)
    await w.services.running.idle()
    const chat = await chatOfAda()
    for (const query of ["returns", "?"]) {
      await write(chat)
      let round = 0
      openAi.reply = async () =>
        round++ === 0 ? { toolCalls: [{ name: "searchKnowledge", arguments: { query } }] } : { text: "So it is." }
      await answer()
    }
    expect(await only(chat)).toMatchObject({ toolCalls: 2, toolFailures: 0, knowledgeSearches: 2, knowledgeMisses: 1 })
  })

  it("stays without its chat, and without anything personal, when the chat is deleted", async () => {
    const chat = await acme.chat()
    const { id } = await write(chat)
    time.pass(second)
    await person(chat)
    await w.sql("update stretch set rating = 2, rating_text = 'My name is Bond' where id = $1", [id])
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    const { body } = await rest.as(acme.token).get("/api/stretches").expect(200)
    expect(body.data.find((stretch: { id: string }) => stretch.id === id)).toMatchObject({
      ...{ chatId: null, endedAt: iso(), endReason: "CHAT_DELETED", outcome: "PERSON_ALONE", rating: 2, ratingText: null },
    })
  })

  it("ends with its chat, also when a version that knows nothing of it deletes the chat", async () => {
    const chat = await acme.chat()
    const { id } = await write(chat)
    await w.sql("delete from chat where id = $1", [chat.id])
    const [stretch] = await w.sql("select chat_id, outcome, end_reason, ended_at >= started_at as is_ended from stretch where id = $1", [
      id,
    ])
    expect(stretch).toEqual({ chat_id: null, outcome: "UNANSWERED", end_reason: "CHAT_DELETED", is_ended: true })
  })

  it("is counted by its outcome", async () => {
    const count = async () => {
      const { values } = await w.services.metrics.outcomes.get()
      return values.find(({ labels }) => labels["outcome"] === "PERSON_ALONE")?.value ?? 0
    }
    const before = await count()
    const chat = await acme.chat()
    await write(chat)
    await person(chat)
    await end(chat)
    await w.services.sequencer.poke()
    expect(await count()).toBe(before + 1)
  })

  it("tells its end by an event with the stretch as REST shows it", async () => {
    const heard = await subscribe(w, acme.token, { types: ["STRETCH_ENDED"], select: "type payload stretch { id outcome chat { id } }" })
    const chat = await chatOfAda()
    await write(chat)
    await answer()
    const { body: ended } = await end(chat)
    const [event] = await heard.take(1)
    await heard.stop()
    expect(event!.payload).toEqual(ended)
    expect(event).toMatchObject({ stretch: { id: ended.id, outcome: "AI_ALONE", chat: { id: chat.id } } })
  })

  it("is made of the messages that were stored before there were stretches, without an event", async () => {
    const [busy, waiting] = [await chatOfAda(), await acme.chat()]
    await write(busy)
    await answer()
    await end(busy)
    time.pass(hour)
    await write(busy)
    openAi.reply = async () => ({ text: "I get somebody.", toolCalls: [{ name: "turnOffAiMode" }] })
    await answer()
    time.pass(second)
    await person(busy)
    time.pass(30 * hour)
    await control(busy, true)
    await write(busy)
    openAi.reply = async () => ({ text: "An answer" })
    await answer()
    time.pass(30 * hour)
    for (const chat of [busy, waiting]) await write(chat)
    await quietStretches.run(w.services)
    await w.sql("update stretch set rating = 5, rating_text = 'Good' where chat_id = $1", [waiting.id])
    const before = [await stretches(busy), await stretches(waiting)]
    expect(before.map((list) => list.length)).toEqual([4, 1])
    const events = () => w.sql("select count(*)::integer as count from event where type = 'STRETCH_ENDED'")
    const ended = await events()
    // What a person ended is not in the messages.
    await w.sql("delete from stretch where chat_id = $1 and end_reason is distinct from 'PERSON'", [busy.id])
    await w.sql("update stretch set customer_messages = 7 where chat_id = $1", [waiting.id])
    await w.sql(
      "update stretch_setting set rebuilt_to = '00000000-0000-0000-0000-000000000000', rebuild_until = (select max(id::text)::uuid from chat)",
    )
    await rebuildStretches.run(w.services)
    const withoutUpdate = (lists: { updatedAt: string }[][]) =>
      lists.map((list) => list.map(({ updatedAt: _updatedAt, ...facts }) => facts))
    expect(withoutUpdate([await stretches(busy), await stretches(waiting)])).toEqual(withoutUpdate(before))
    expect(await events()).toEqual(ended)
    const [setting] = await w.sql("select rebuilt_to = rebuild_until as done from stretch_setting")
    expect(setting.done).toBe(true)
  })

  it("can be told by its chat, its time and its facts, and is not shown to another company", async () => {
    const chat = await chatOfAda()
    const from = iso()
    await write(chat)
    await answer()
    await end(chat)
    const find = async (query: string, credential = acme.token) =>
      (await rest.as(credential).get(`/api/stretches?from=${from}&${query}`).expect(200)).body
    expect((await find("filter=outcome:eq:AI_ALONE")).totalCount).toBe(1)
    expect((await find("filter=outcome:in:AI_THEN_PERSON,UNANSWERED")).totalCount).toBe(0)
    expect((await find(`filter=assistantId:eq:${ada.id};personId:eq:null;isHandedOff:eq:false`)).totalCount).toBe(1)
    expect((await find("filter=isEnded:eq:false")).totalCount).toBe(0)
    expect((await find("filter=rating:gte:1")).totalCount).toBe(0)
    expect((await find(`to=${from}`)).totalCount).toBe(0)
    expect((await find("filter=messenger:eq:playground", globex.token)).totalCount).toBe(0)
    await rest.as(globex.token).post(`/api/chats/${chat.id}/end-stretch`).expect(404)
    for (const filter of ["outcome:eq:ai_alone", "rating:gte:6", "nothing:eq:1"])
      await rest.as(acme.token).get(`/api/stretches?filter=${filter}`).expect(400)
    const query = `query ($filters: StretchFilters, $chatId: UUID) { stretches(filters: $filters, chatId: $chatId) { nodes { assistant { name } person { id } } } }`
    const filters = { outcome: { eq: "AI_ALONE" }, handOffReason: { in: ["ASSISTANT"] } }
    expect((await gql(acme.token, query, { filters, chatId: chat.id })).data.stretches.nodes).toEqual([])
    const { data } = await gql(acme.token, query, { filters: { reopened: { eq: false } }, chatId: chat.id })
    expect(data.stretches.nodes).toEqual([{ assistant: { name: "Ada" }, person: null }])
  })
})
