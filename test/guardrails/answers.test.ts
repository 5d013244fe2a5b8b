import { reply } from "../../src/jobs/reply.js"
import { sentStatements } from "../kit/company-plans.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { openTransaction } from "../kit/transaction.js"
import { chatViews, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"
import { guardrails } from "./kit.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql } = w
const { write, look, said, control, controlChanges } = chatViews(w)
const { guarded, hitsOf, messagesOf } = guardrails(w)
const time = stillTime()
const card = "4111 1111 1111 1111"
const sentence = "I may not say that."

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  openAi.requests.length = 0
})

/** A chat of an assistant with a message whose reply is due. */
async function chatToAnswer(assistant: { id: string }, text = "What do you know about me?") {
  const chat = await acme.chat({ assistantId: assistant.id })
  await write(chat, text)
  time.pass(4_000)
  return chat
}

/** A chat in which the model has answered. */
async function answered(assistant: { id: string }, reply: object, asked?: string) {
  openAi.reply = async () => reply
  const chat = await chatToAnswer(assistant, asked)
  await w.runDue()
  return chat
}

const handsOver = { toolCalls: [{ name: "turnOffAiMode", arguments: { reason: "A person." } }] }

describe("an answer that a guardrail stops", () => {
  promised("becomes the sentence; the hit is stored once, with an event that shows it", async () => {
    const ada = await guarded({ card: { answer: "block" }, sentence })
    const after = await endOfLog(w)
    const chat = await answered(ada, { text: `Your card ${card} is valid until May.` })
    expect(await said(chat)).toEqual(["Customer: What do you know about me?", `Assistant: ${sentence}`])
    const [, answer] = await messagesOf(chat)
    const hits = await hitsOf(chat)
    expect(hits).toEqual([
      expect.objectContaining({
        rule: "card",
        direction: "answer",
        action: "block",
        reason: "card_number",
        excerpt: "Your card •••• is valid until May.",
        messageId: answer.id,
        chatId: chat.id,
        callId: null,
        assistantId: ada.id,
      }),
    ])
    const heard = await subscribe(w, acme.token, {
      after,
      types: ["GUARDRAIL_HIT"],
      select: "type payload guardrailHit { id rule message { text } }",
    })
    const [event] = await heard.take(1)
    await heard.stop()
    expect(event!.payload).toEqual(hits[0])
    expect(event).toMatchObject({ guardrailHit: { id: hits[0]!.id, rule: "CARD", message: { text: sentence } } })
    expect(JSON.stringify(await sql("select * from event where chat_id = $1", [chat.id]))).not.toContain("4111")
  })

  promised("hands the chat over, with the sentence or with the assistant's message for that", async () => {
    const settings = { card: { answer: "block" }, onBlock: "hand_off" }
    const said1 = await answered(await guarded({ ...settings, sentence }, { handOffMessage: "Wait." }), { text: card })
    expect((await said(said1)).slice(1)).toEqual([`Assistant: ${sentence}`])
    const told = await answered(await guarded(settings, { handOffMessage: "Wait." }), { text: card })
    expect((await said(told)).slice(1)).toEqual(["Assistant: Wait."])
    const silent = await answered(await guarded(settings), { text: card })
    expect((await said(silent)).slice(1)).toEqual([])
    for (const chat of [said1, told, silent]) {
      expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto", needsAttention: true })
      expect(await controlChanges(chat)).toMatchObject([{ isUnderAiControl: false, actorKind: "ASSISTANT" }])
      const [stretch] = (await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)).body.data
      expect(stretch).toMatchObject({ handOffReason: "guardrail" })
      expect(await hitsOf(chat)).toHaveLength(1)
    }
    expect((await hitsOf(silent))[0]).toMatchObject({ messageId: null })
  })

  promised("beside a hand-off of the model is replaced, and the hand-off stays", async () => {
    const chat = await answered(await guarded({ card: { answer: "block" }, sentence }), { text: `I pass ${card} on.`, ...handsOver })
    expect((await said(chat)).slice(1)).toEqual([`Assistant: ${sentence}`, "Assistant: FunctionCall", "Assistant: FunctionCallOutput"])
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false })
    const [stretch] = (await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)).body.data
    expect(stretch).toMatchObject({ handOffReason: "assistant" })
  })

  promised("after the last round of tools is stopped too", async () => {
    const ada = await guarded({ words: { answer: "block", words: ["secret"] }, sentence })
    openAi.reply = async ({ body }) =>
      body.tools
        ? { text: "The secret is", toolCalls: [{ name: "setChatTags", arguments: { tags: ["x"] } }] }
        : { text: "The secret is out" }
    await acme.tag({ name: `tag of ${ada.id}` })
    const chat = await chatToAnswer(ada)
    await w.runDue()
    expect((await said(chat)).at(-1)).toBe(`Assistant: ${sentence}`)
    expect(openAi.requests.at(-1)!.body.tools).toBeUndefined()
    expect((await said(chat)).filter((line) => line.includes("secret"))).toEqual([])
  })

  it("without a source is stopped, unless it needs none", async () => {
    const ada = await guarded({ sources: { answer: "block" }, sentence })
    await acme.makeKnowledge({ assistantId: ada.id, isVector: false, resourceContent: "Delivery takes three working days." })
    const told = async (text: string, asked?: string) => (await said(await answered(ada, { text }, asked))).at(-1)
    expect(await told("Delivery takes three working days.", "How long does delivery take?")).toBe(
      "Assistant: Delivery takes three working days.",
    )
    expect(await told("We also sell bicycles in Hamburg.", "Do you sell bicycles?")).toBe(`Assistant: ${sentence}`)
    expect(await told("You are welcome!", "Thank you!")).toBe("Assistant: You are welcome!")
    expect(await told("Which lamp do you mean?", "How much is it?")).toBe("Assistant: Which lamp do you mean?")
  })
})

describe("an answer in which personal data is replaced", () => {
  promised("is stored so, and each rule's hit is recorded", async () => {
    const mask = { answer: "mask" }
    const chat = await answered(await guarded({ card: mask, email: mask, links: { answer: "log" } }), {
      text: `Card ${card}, mail ann@lee.example, see https://lee.example.`,
    })
    expect((await said(chat)).at(-1)).toBe("Assistant: Card ••••, mail ••••, see https://lee.example.")
    const hits = await hitsOf(chat)
    expect(hits.map(({ rule, action }) => `${rule} ${action}`).sort()).toEqual(["card mask", "email mask", "links log"])
    expect(JSON.stringify(hits)).not.toMatch(/4111|ann@|lee\.example/)
  })
})

describe("an assistant with guardrails", () => {
  it("stores an answer that none of them hit by one statement", async () => {
    const ada = await guarded({ card: { customer: "block", answer: "block" }, sentence })
    openAi.reply = async () => ({ text: "Nothing." })
    const chat = await chatToAnswer(ada)
    const statements = await sentStatements(w, () => w.runDue())
    expect((await said(chat)).at(-1)).toBe("Assistant: Nothing.")
    expect(statements.map(({ name }) => name)).toContain("append-answer")
    expect(statements.filter(({ text }) => /^(begin|commit)\b/i.test(text.trim()) || /guardrail_hit/.test(text))).toEqual([])
  })

  promised("stores nothing and no hit when a person took the chat over meanwhile", async () => {
    const model = hold(openAi)
    const chat = await chatToAnswer(await guarded({ card: { answer: "block" }, sentence }))
    const done = w.runDue()
    const call = await model.next()
    await control(chat, false)
    call.answer({ text: card })
    await done
    time.pass(20_000)
    await w.runDue()
    expect(await said(chat)).toEqual(["Customer: What do you know about me?"])
    expect(await hitsOf(chat)).toEqual([])
  })

  promised("stores nothing and no hit when a person takes the chat over between the judgement and the storing", async () => {
    const chat = await chatToAnswer(await guarded({ card: { answer: "block" }, sentence }))
    openAi.reply = async () => ({ text: card })
    await using person = await openTransaction(w.databaseUrl)
    const model = hold(openAi)
    const done = w.runDue()
    const call = await model.next()
    await person.query("select 1 from chat where id = $1 for update", [chat.id])
    call.answer({ text: card })
    await until("the answer waits for the chat", async () => {
      const waiting = await sql("select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
      return waiting.length > 0
    })
    await person.query(
      "update chat set is_under_ai_control = false, ai_disable_reason = 'manual', turn_id = null, turn_lease_until = null where id = $1",
      [chat.id],
    )
    await person.commit()
    await done
    expect(await said(chat)).toEqual(["Customer: What do you know about me?"])
    expect(await hitsOf(chat)).toEqual([])
  })

  promised("is swept by two instances at once: each hit once", async () => {
    const second = await w.another()
    await stopScheduler(second)
    openAi.reply = async () => ({ text: card })
    const ada = await guarded({ card: { answer: "block" }, sentence })
    const chats = await Promise.all(Array.from({ length: 6 }, () => acme.chat({ assistantId: ada.id })))
    for (const chat of chats) await write(chat)
    time.pass(4_000)
    await Promise.all([w, second, w, second].map(({ services }) => reply.sweep.run(services)))
    await Promise.all([w, second].map(({ services }) => services.running.idle()))
    for (const chat of chats) {
      expect(await said(chat)).toEqual(["Customer: Hello", `Assistant: ${sentence}`])
      expect(await hitsOf(chat)).toHaveLength(1)
    }
    await second.stop()
  })

  promised("whose process died runs the turn again: one message, one hit", async () => {
    const lost = await w.another()
    await stopScheduler(lost)
    const chat = await chatToAnswer(await guarded({ card: { answer: "block" }, sentence }))
    const model = hold(openAi)
    await reply.sweep.run(lost.services)
    const first = await model.next()
    time.pass(10_000)
    const done = w.runDue()
    const second = await model.next()
    second.answer({ text: card })
    await done
    first.answer({ text: card })
    await lost.services.running.idle()
    expect(await said(chat)).toEqual(["Customer: What do you know about me?", `Assistant: ${sentence}`])
    expect(await hitsOf(chat)).toHaveLength(1)
    await lost.stop()
  })

  promised("counts a hit once, by the instance that places its event", async () => {
    const value = async () => {
      const metric = await w.services.metrics.guardrailHits.get()
      return (
        metric.values.find(({ labels }) => labels.rule === "iban" && labels.direction === "answer" && labels.action === "log")?.value ?? 0
      )
    }
    await w.services.sequencer.poke()
    const before = await value()
    const chat = await answered(await guarded({ iban: { answer: "log" } }), { text: "Pay to DE89 3704 0044 0532 0130 00." })
    expect((await said(chat)).at(-1)).toBe("Assistant: Pay to DE89 3704 0044 0532 0130 00.")
    await w.services.sequencer.poke()
    expect(await value()).toBe(before + 1)
  })

  promised("shows visitors what was stored, and no hit", async () => {
    const ada = await guarded({ card: { answer: "block" }, sentence })
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello there" }).expect(201)
    await rest.as(acme.token).patch(`/api/chats/${body.chatId}/assign-assistant`, { assistantId: ada.id }).expect(200)
    openAi.reply = async () => ({ text: card })
    const after = await endOfLog(w)
    const heard = await subscribe(w, body.visitorToken, { after, select: "type payload" })
    await write({ id: body.chatId }, "Once more")
    time.pass(8_000)
    await w.runDue()
    const events = await heard.take(2)
    await acme.message({ chatId: body.chatId, text: "A person" })
    events.push(...(await heard.take(1)))
    await heard.stop()
    expect(events.map(({ type, payload }) => [type, (payload as { text: string }).text])).toEqual([
      ["MESSAGE_CREATED", "Once more"],
      ["MESSAGE_CREATED", sentence],
      ["MESSAGE_CREATED", "A person"],
    ])
  })
})
