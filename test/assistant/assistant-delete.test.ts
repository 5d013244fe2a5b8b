import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { Assistant } from "../../src/entities/assistant.js"
import { voiceAgent } from "../../src/jobs/voice-agent.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { openTransaction } from "../kit/transaction.js"
import { chatViews, hold } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url, REPLY_DEBOUNCE_MS: "0", REPLY_MAX_WAIT_MS: "0" })
const { acme, globex, rest, gql, sql, clock } = w
const { write, look, said, controlChanges } = chatViews(w)
const path = "/api/assistants-new"

const remove = ({ id }: { id: string }) => rest.as(acme.token).delete(`${path}/${id}`)
const find = ({ id }: { id: string }) => rest.as(acme.token).get(`${path}/${id}`)
const assign = (chat: { id: string }, { id }: { id: string }) =>
  rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: id })
const speaking = () => acme.makeAssistant({ name: "Ada", vaRegistration: { provider: "simulated" } })
/** Runs the work on voice agents that is due, and waits until it is done, also what the job scheduler started. */
const sweep = async () => {
  await voiceAgent.sweep.run(w.services)
  await w.services.running.idle()
}
/** Speaking, with an agent that the provider has made. */
async function ready() {
  const assistant = await speaking()
  await sweep()
  expect((await find(assistant)).body.voiceAgentStatus).toBe("ready")
  return assistant
}

/** An assistant whose voice agent stays: a worker that does not return holds the work on it. */
async function terminating() {
  const assistant = await ready()
  await sql("update assistant set voice_work_id = $1, voice_lease_until = now() + interval '1 hour' where id = $2", [v7(), assistant.id])
  await remove(assistant).expect(200, { id: assistant.id, deleted: false, terminating: true })
  return assistant
}

describe("an assistant without a voice", () => {
  it("is deleted at once, over both protocols", async () => {
    const [first, second] = [await acme.makeAssistant(), await acme.makeAssistant()]
    await remove(first).expect(200, { id: first.id, deleted: true, terminating: false })
    const { data } = await gql(acme.token, "mutation ($id: UUID!) { deleteAssistant(id: $id) { id deleted terminating } }", {
      id: second.id,
    })
    expect(data.deleteAssistant).toEqual({ id: second.id, deleted: true, terminating: false })
    for (const assistant of [first, second]) {
      await find(assistant).expect(404)
      await remove(assistant).expect(404)
    }
  })

  it("is deleted with its knowledge; its drafts and channels stay without an original and an assistant", async () => {
    const assistant = await acme.makeAssistant()
    const knowledge = await acme.makeKnowledge({ assistantId: assistant.id })
    const draft = await acme.makeAssistant({ isDraft: true, draftOfId: assistant.id })
    await sql("update channel set assistant_id = $1 where id = $2", [assistant.id, acme.widget.id])
    await remove(assistant).expect(200)
    await rest.as(acme.token).get(`/api/assistant-knowledge-new/${knowledge.id}`).expect(404)
    expect((await find(draft).expect(200)).body).toMatchObject({ isDraft: true, draftOfId: null })
    expect(await sql("select assistant_id from channel where id = $1", [acme.widget.id])).toEqual([{ assistant_id: null }])
    await sql("update channel set assistant_id = $1 where id = $2", [acme.assistant.id, acme.widget.id])
  })

  promised("of another company cannot be deleted", async () => {
    await remove(globex.assistant).expect(404)
    await rest.as(globex.token).get(`${path}/${globex.assistant.id}`).expect(200)
  })

  it("is deleted by the next sweep when the process that was deleting it has died", async () => {
    const assistant = await acme.makeAssistant()
    const chat = await acme.chat({ assistantId: assistant.id })
    await systemContext(w.services, acme.id, "test").transaction(async (tx) => (await tx.find(Assistant, assistant.id)).terminate())
    await sweep()
    expect((await find(assistant)).body.voiceAgentStatus).toBe("terminating")
    clock.advance(60_000)
    await sweep()
    clock.advance(-60_000)
    await find(assistant).expect(404)
    expect(await look(chat)).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    expect(await controlChanges(chat)).toEqual([{ isUnderAiControl: false, aiDisableReason: "MANUAL", actorKind: "SYSTEM", actorId: null }])
  })

  promised("is deleted at the same moment as another one that has the same calls", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [first, second] = [await acme.makeAssistant(), await acme.makeAssistant()]
      const { id } = await acme.call({ assistantId: first.id, callerAssistantId: second.id })
      await sql(
        `insert into call select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(),
           'assistant_id', case n % 2 when 0 then $2::uuid else $3 end, 'caller_assistant_id', case n % 2 when 0 then $3::uuid else $2 end))).*
         from call c, generate_series(1, 1000) n where c.id = $1`,
        [id, first.id, second.id],
      )
      const answers = await Promise.all([remove(first), remove(second)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(await sql("select 1 from call where assistant_id is not null or caller_assistant_id is not null")).toEqual([])
    }
  })
})

describe("the chats of a deleted assistant", () => {
  it("keep their history, with AI off, and clients get the events", async () => {
    const assistant = await acme.makeAssistant()
    const chat = await acme.chat({ assistantId: assistant.id })
    await acme.message({ chatId: chat.id, text: "Good morning" })
    const heard = await subscribe(w, acme.token, { chatId: chat.id })
    await remove(assistant).expect(200)
    expect(await look(chat)).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    expect(await said(chat)).toEqual(["User: Good morning"])
    expect(await heard.next()).toMatchObject({
      type: "CHAT_MODE_CHANGED",
      payload: { chatId: chat.id, isUnderAiControl: false, aiDisableReason: "manual" },
    })
    await heard.stop()
    expect(await controlChanges(chat)).toEqual([
      { isUnderAiControl: false, aiDisableReason: "MANUAL", actorKind: "TOKEN", actorId: acme.tokenId },
    ])
  })

  it("that waited for the return of AI stop waiting; those turned off by hand get no event", async () => {
    const assistant = await acme.makeAssistant()
    const [waiting, off] = [await acme.chat({ assistantId: assistant.id }), await acme.chat({ assistantId: assistant.id })]
    for (const [chat, aiDisableReason] of [
      [waiting, "auto"],
      [off, "manual"],
    ] as const)
      await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason }).expect(200)
    const news = () => sql("select chat_id from event where type = 'CHAT_MODE_CHANGED' and chat_id = any($1)", [[waiting.id, off.id]])
    expect(await news()).toHaveLength(2)
    await remove(assistant).expect(200)
    for (const chat of [waiting, off])
      expect(await look(chat)).toMatchObject({ assistantId: null, aiDisableReason: "manual", needsAttention: false })
    expect((await news()).map(({ chat_id }) => chat_id).sort()).toEqual([waiting.id, waiting.id, off.id].sort())
  })

  it("are as if a person had unassigned the assistant and taken over each", async () => {
    const assistant = await acme.makeAssistant()
    const [deleted, byHand] = [await acme.chat({ assistantId: assistant.id }), await acme.chat({ assistantId: assistant.id })]
    // The state of a chat after a failed turn.
    await sql(
      `update chat set reply_first_at = now(), reply_due_at = now() + interval '1 hour', turn_failures = 2, turn_is_final = true, turn_rounds = 3,
         quiet_since = now(), updated_at = '2026-01-01' where id = any($1)`,
      [[deleted.id, byHand.id]],
    )
    await rest.as(acme.token).patch(`/api/chats/${byHand.id}/unassign-assistant`).expect(200)
    await rest.as(acme.token).patch(`/api/chats/${byHand.id}/ai-control`, { isUnderAiControl: false }).expect(200)
    await remove(assistant).expect(200)
    const row = async ({ id }: { id: string }) => {
      const [{ chat }] = await sql("select to_jsonb(chat) as chat from chat where id = $1", [id])
      const { id: _id, external_id: _customer, created_at: _made, recency: _also, updated_at, ...rest } = chat
      return { ...rest, isTouched: updated_at > "2026-01-02" }
    }
    expect(await row(deleted)).toEqual(await row(byHand))
  })

  it("get no answer that was running", async () => {
    const model = hold(openAi)
    const assistant = await acme.makeAssistant()
    const chat = await acme.chat({ assistantId: assistant.id })
    await write(chat)
    const call = await model.next()
    await remove(assistant).expect(200, { id: assistant.id, deleted: true, terminating: false })
    call.answer({ text: "Too late" })
    await w.services.running.idle()
    expect(await said(chat)).toEqual(["Customer: Hello"])
    expect(await look(chat)).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    openAi.reply = async () => ({ text: "ok" })
  })

  it("are not sent queued messages", async () => {
    const assistant = await acme.makeAssistant()
    const chat = await acme.chat({ messenger: "olx", assistantId: assistant.id })
    await sql(
      `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, status)
       values ($1, now(), now(), $2, $3, 1, 'Assistant', 'Text', 'On its way', 'queued')`,
      [v7(), acme.id, chat.id],
    )
    await sql("update chat set last_sequence = 1 where id = $1", [chat.id])
    await remove(assistant).expect(200)
    expect(await sql("select status from message where chat_id = $1", [chat.id])).toEqual([{ status: "cancelled" }])
    const events = await sql("select type from event where chat_id = $1 order by id", [chat.id])
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["CHAT_MODE_CHANGED", "MESSAGE_UPDATED"]))
  })

  it("are thousands, and none waits: a locked one is left for last, and the others are not locked meanwhile", async () => {
    const assistant = await acme.makeAssistant()
    await sql(
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, assistant_id, is_under_ai_control, reply_due_at)
       select gen_random_uuid(), now(), now(), $1, 'olx', 'many', $2, n % 3 > 0, case when n % 7 = 0 then now() + interval '1 hour' end
       from generate_series(1, 2500) n`,
      [acme.id, assistant.id],
    )
    await using writer = await openTransaction(w.databaseUrl)
    const [held] = (await writer.query("select id from chat where from_id = 'many' limit 1 for update")).rows
    const deletion = remove(assistant).then((answer) => answer)
    const left = async () => (await sql("select count(*)::int as count from chat where assistant_id = $1", [assistant.id]))[0].count
    await until("one object is left", async () => (await left()) === 1)
    expect((await find(assistant).expect(200)).body.voiceAgentStatus).toBe("terminating")
    expect((await sql("select id from chat where assistant_id = $1", [assistant.id]))[0].id).toBe(held.id)
    await writer.commit()
    expect((await deletion).body).toEqual({ id: assistant.id, deleted: true, terminating: false })

    const [counts] = await sql(
      `select (select count(*)::int from chat where from_id = 'many' and not is_under_ai_control and ai_disable_reason = 'manual'
                and reply_due_at is null and assistant_id is null) as chats,
              (select count(distinct x.id)::int from control_change x join chat c on c.id = x.chat_id where c.from_id = 'many') as changes,
              (select count(distinct c.id)::int from event e join chat c on c.id = e.chat_id
                where c.from_id = 'many' and e.type = 'CHAT_MODE_CHANGED') as events`,
    )
    expect(counts).toEqual({ chats: 2500, changes: 2500, events: 2500 })
  })
})

describe("a chat that is assigned to an assistant during its deletion", () => {
  const widget = "update channel set assistant_id = $1 where id = $2"
  const ways: Record<
    string,
    (assistant: { id: string }, chat: { id: string }) => PromiseLike<{ status: number; body: { id?: string; chatId?: string } }>
  > = {
    "is assigned": (assistant, chat) => assign(chat, assistant),
    "is changed": ({ id }, chat) => rest.as(acme.token).patch(`/api/chats/${chat.id}`, { assistantId: id, isUnderAiControl: true }),
    "is created": ({ id }) =>
      rest.as(acme.token).post("/api/chats", { messenger: "playground", fromId: "race", externalId: v7(), assistantId: id }),
    "is opened by a customer": () => rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }),
  }
  const voices = { "without a voice": {}, "with a voice": { vaRegistration: { provider: "simulated" } } }
  const cases = Object.entries(ways).flatMap(([way, give]) =>
    Object.entries(voices).map(([kind, voice]) => [way, kind, give, voice] as const),
  )

  it.each(cases)("%s (%s) is freed by the deletion, which waits for it", async (_way, _kind, give, voice) => {
    const [assistant, chat] = [await acme.makeAssistant(voice), await acme.chat()]
    await sql(widget, [assistant.id, acme.widget.id])
    await using gate = await blockWrites(w, "insert or update on chat", "new.assistant_id is not null")
    // The assignment has read the assistant and is not committed yet.
    const giving = Promise.resolve(give(assistant, chat))
    await gate.waiting(1)
    let isDeleted = false
    const deletion = remove(assistant).then((answer) => {
      isDeleted = true
      return answer
    })
    await gate.waiting(2, () => isDeleted)
    await gate.open()
    const [given, { status }] = await Promise.all([giving, deletion])
    expect([given.status, status]).toEqual([expect.any(Number), 200])
    expect([200, 201]).toContain(given.status)
    const id = given.body.chatId ?? given.body.id!
    expect(await look({ id })).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    await sweep()
    await until("the assistant is removed", async () => (await find(assistant)).status === 404)
    await sql(widget, [acme.assistant.id, acme.widget.id])
  })

  it("by twenty requests at once is assigned first or not at all", async () => {
    const assistant = await acme.makeAssistant()
    const chats = await Promise.all(Array.from({ length: 20 }, () => acme.chat()))
    const [deletion, ...given] = await Promise.all([remove(assistant), ...chats.map((chat) => assign(chat, assistant))])
    expect(deletion!.status).toBe(200)
    for (const { status } of given) expect([200, 400]).toContain(status)
    for (const chat of chats) expect(await look(chat)).toMatchObject({ assistantId: null, isUnderAiControl: false })
  })
})

describe("an assistant that is being deleted", () => {
  it("answers no chat from the request on, and is shown until its agent is deleted", async () => {
    const assistant = await ready()
    const chat = await acme.chat({ assistantId: assistant.id })
    await sql("update assistant set voice_work_id = $1, voice_lease_until = now() + interval '1 hour' where id = $2", [v7(), assistant.id])
    await remove(assistant).expect(200, { id: assistant.id, deleted: false, terminating: true })
    expect(await look(chat)).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    expect((await find(assistant).expect(200)).body).toMatchObject({
      voiceAgentStatus: "terminating",
      vaRegistration: { provider: "simulated" },
    })
    await remove(assistant).expect(200, { id: assistant.id, deleted: false, terminating: true })
    // Its worker continues.
    await sql("update assistant set voice_work_id = null, voice_lease_until = null, voice_due_at = now() where id = $1", [assistant.id])
    await sweep()
    await until("the assistant is removed", async () => (await find(assistant)).status === 404)
  })

  it("can neither be changed, copied nor assigned to a chat", async () => {
    const assistant = await terminating()
    const chat = await acme.chat()
    const as = rest.as(acme.token)
    for (const refused of [
      as.patch(`${path}/${assistant.id}`, { name: "Bea" }),
      as.patch(`${path}/${assistant.id}`, { vaRegistration: null }),
      as.patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: assistant.id }),
      as.patch(`/api/chats/${chat.id}`, { assistantId: assistant.id }),
      as.post("/api/chats", { messenger: "playground", fromId: "x", externalId: v7(), assistantId: assistant.id }),
    ])
      expect((await refused.expect(400)).body.message).toBe("This assistant is being deleted")
    expect(await look(chat)).toMatchObject({ assistantId: null })
  })

  it("is not assigned to a new customer's chat on its channel", async () => {
    const assistant = await terminating()
    await sql("update channel set assistant_id = $1 where id = $2", [assistant.id, acme.widget.id])
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
    expect(await look({ id: body.chatId })).toMatchObject({ assistantId: null, isUnderAiControl: false })
  })
})

describe("the job scheduler", () => {
  it("creates an agent, and deletes it, without a call by the test", async () => {
    const assistant = await speaking()
    await until("the voice agent is ready", async () => (await find(assistant)).body.voiceAgentStatus === "ready")
    await remove(assistant).expect(200, { id: assistant.id, deleted: false, terminating: true })
    await until("the assistant is removed", async () => (await find(assistant)).status === 404)
  })
})
