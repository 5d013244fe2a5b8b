import { setImmediate as turn } from "node:timers/promises"
import supertest from "supertest"
import { autoResume } from "../../src/jobs/auto-resume.js"
import { quietChats } from "../../src/jobs/quiet-chats.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, conversationOf, stillTime, stopScheduler, systemOf } from "../kit/turns.js"
import { world } from "../kit/world.js"

const minute = 60_000
const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())
beforeEach(() => {
  openAi.requests.length = 0
  openAi.reply = async () => ({ text: "An answer" })
})

describe("the return of a chat, with a stopped clock", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, rest, sql } = w
  const { write, look, said, due, controlChanges } = chatViews(w)
  const time = stillTime()
  let ada: { id: string }

  beforeAll(async () => {
    await stopScheduler(w)
    ada = await acme.makeAssistant({ name: "Ada", prompt: "You are Ada." })
  })
  afterEach(() => {
    expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  const lookForQuietChats = () => quietChats.run(w.services)
  const offAuto = (chat: { id: string }) =>
    rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
  const stored = async (chat: { id: string }) =>
    (await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=100`).expect(200)).body.data.reverse()

  /** A customer asks something, and the assistant hands the chat over. */
  async function handedOver() {
    const chat = await acme.chat({ assistantId: ada.id })
    await write(chat, "I want a person")
    time.pass(4_000)
    openAi.reply = async () => ({ text: "I get somebody.", toolCalls: [{ name: "turnOffAiMode" }] })
    await w.runDue()
    openAi.reply = async () => ({ text: "An answer" })
    openAi.requests.length = 0
    return chat
  }
  async function answerDue() {
    time.pass(7_000)
    await w.runDue()
  }

  it("gives the chat to the assistant, archives the earlier messages, and notifies clients", async () => {
    const chat = await handedOver()
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["CHAT_MODE_CHANGED", "CHAT_UPDATED"] })
    time.pass(10 * minute)
    await lookForQuietChats()

    const shown = await look(chat)
    expect(shown).toMatchObject({ isUnderAiControl: true, aiDisableReason: null, needsAttention: false, contextId: expect.any(String) })
    expect((await stored(chat)).map(({ contextId }: { contextId: string }) => contextId)).toEqual(Array(4).fill(shown.contextId))
    const events = await heard.take(2)
    await heard.stop()
    expect(events.find(({ type }) => type === "CHAT_MODE_CHANGED")!.payload).toEqual({
      chatId: chat.id,
      isUnderAiControl: true,
      aiDisableReason: null,
    })
    expect(events.find(({ type }) => type === "CHAT_UPDATED")!.payload).toMatchObject({
      contextId: shown.contextId,
      isUnderAiControl: true,
    })
    expect((await controlChanges(chat)).at(-1)).toEqual({
      isUnderAiControl: true,
      aiDisableReason: null,
      actorKind: "SYSTEM",
      actorId: null,
    })
  })

  it("starts a new context, and tells the model about the time in between", async () => {
    const chat = await handedOver()
    time.pass(2 * minute)
    await acme.message({ chatId: chat.id, text: "Here is a person" })
    time.pass(10 * minute)
    await lookForQuietChats()
    time.pass(30 * minute)
    await write(chat, "Me again")
    await answerDue()

    expect(conversationOf(openAi.requests[0]!)).toEqual(["user: <customer>Me again</customer>"])
    const told = systemOf(openAi.requests[0]!)
    expect(told).toMatch(/you handed the chat over to a human colleague[\s\S]*the chat came back to you[\s\S]*archived/)
    expect(told).toContain("Meanwhile a human colleague wrote to the customer.")

    // Once only: what precedes the window is known from the turn that was answered.
    time.pass(20 * minute)
    await write(chat, "And again")
    await answerDue()
    expect(systemOf(openAi.requests[1]!)).not.toContain("came back to you")
  })

  it("keeps messages of the window: only older ones are archived", async () => {
    const chat = await handedOver()
    time.pass(minute)
    await write(chat, "Within the window")
    await sql("update chat set quiet_since = quiet_since - interval '10 minutes' where id = $1", [chat.id])
    time.pass(9 * minute + 1)
    await lookForQuietChats()
    const contexts = (await stored(chat)).map(({ contextId }: { contextId: string | null }) => contextId !== null)
    expect(contexts).toEqual([true, true, true, true, false])
    await write(chat, "New")
    await answerDue()
    expect(conversationOf(openAi.requests[0]!)).toEqual(["user: <customer>Within the window</customer>\n<customer>New</customer>"])
  })

  it("makes a new archive each time, and none without messages", async () => {
    const chat = await handedOver()
    time.pass(10 * minute)
    await lookForQuietChats()
    const first = (await look(chat)).contextId
    await offAuto(chat)
    time.pass(10 * minute)
    await lookForQuietChats()
    expect(await look(chat)).toMatchObject({ isUnderAiControl: true, contextId: first })
    await write(chat)
    await answerDue()
    await offAuto(chat)
    time.pass(10 * minute)
    await lookForQuietChats()
    const second = (await look(chat)).contextId
    expect(second).not.toBe(first)
    expect((await stored(chat)).map(({ contextId }: { contextId: string }) => contextId)).toEqual([...Array(4).fill(first), second, second])
  })

  it("starts no turn for messages that waited for a person: they stay unread, and the next message is answered", async () => {
    const chat = await handedOver()
    await write(chat, "Is anybody there?")
    time.pass(10 * minute)
    await lookForQuietChats()
    expect(await due(chat)).toBeNull()
    await answerDue()
    expect(openAi.requests).toHaveLength(0)
    expect(await look(chat)).toMatchObject({ isUnderAiControl: true, unreadCount: 2 })
    await write(chat, "Still nobody?")
    await answerDue()
    expect((await said(chat)).at(-1)).toBe("Assistant: An answer")
    expect(systemOf(openAi.requests[0]!)).toContain("no human colleague wrote")
  })

  it("comes with the customer's message when the sweep has not run yet", async () => {
    const chat = await handedOver()
    time.pass(10 * minute)
    await write(chat, "Me again")
    expect(await look(chat)).toMatchObject({ isUnderAiControl: true })
    await answerDue()
    expect((await said(chat)).slice(-2)).toEqual(["Customer: Me again", "Assistant: An answer"])
    expect(conversationOf(openAi.requests[0]!)).toEqual(["user: <customer>Me again</customer>"])
    const archived = (await stored(chat)).map(({ contextId }: { contextId: string | null }) => contextId !== null)
    expect(archived).toEqual([true, true, true, true, false, false])
  })

  it.each(["Customer", "User", "System"])("is due after the last message, also one of role %s", async (role) => {
    const chat = await handedOver()
    time.pass(10 * minute - 1)
    await acme.message({ chatId: chat.id, role })
    time.pass(10 * minute - 1)
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(false)
    time.pass(1)
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(true)
  })

  it("waits while there is no subscription, and does not restart the wait when there is one", async () => {
    const chat = await handedOver()
    await acme.subscription("past_due")
    time.pass(60 * minute)
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(false)
    await acme.subscription("active")
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(true)
  })

  it("needs an assistant; the wait starts when the chat has one again", async () => {
    const chat = await handedOver()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { assistantId: null }).expect(200)
    time.pass(10 * minute)
    await lookForQuietChats()
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto" })
    await rest.as(acme.token).patch(`/api/chats/${chat.id}`, { assistantId: ada.id }).expect(200)
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(false)
    time.pass(10 * minute)
    await lookForQuietChats()
    expect((await look(chat)).isUnderAiControl).toBe(true)
  })

  it("is cancelled when the assistant was removed by SQL", async () => {
    const chat = await handedOver()
    await sql("update chat set assistant_id = null where id = $1", [chat.id])
    time.pass(10 * minute)
    await lookForQuietChats()
    expect(await sql("select is_under_ai_control as on, quiet_since from chat where id = $1", [chat.id])).toEqual([
      { on: false, quiet_since: null },
    ])
  })
})

describe("the return and a customer's message at the same instant", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, rest, sql } = w
  const time = stillTime()
  const races = 200

  promised(`${races} times on two instances: no message is lost, none is answered twice, one archive is made`, async () => {
    const second = await w.another()
    for (const server of [w, second]) await stopScheduler(server)
    const ada = await acme.makeAssistant({ name: "Ada" })
    const template = await acme.chat({ assistantId: ada.id })
    await acme.message({ chatId: template.id, role: "Customer", text: "I want a person" })
    await rest
      .as(acme.token)
      .patch(`/api/chats/${template.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: "auto" })
      .expect(200)
    const chats = await copiesOf(template)
    time.pass(10 * minute)

    await twentyAtOnce(chats, async (chat, index) => {
      const write = async () =>
        await supertest([w, second][index % 2]!.url)
          .post("/api/messages")
          .set("X-Access-Token", acme.token)
          .send({ chatId: chat.id, role: "Customer", text: "Me again" })
          .expect(201)
      const resume = () => Promise.all([w, second].map(({ services }) => autoResume.run(services, acme.id, chat.id)))
      // A tenth of the jobs end before the request, a tenth begin after it; the others begin at different turns of the event loop during it.
      if (index % 10 === 0) await resume()
      const writing = write()
      if (index % 10 === 1) await writing
      if (index % 10 > 1) for (let count = 0; count < index; count += 1) await turn()
      if (index % 10 > 0) await resume()
      await writing
    })

    time.pass(7_000)
    await Promise.all([w.runDue(), w.runDue()])
    // A company has a share of each instance's slots, and a sweep skips rows that the other instance holds: the next sweeps take the rest.
    for (let sweeps = 0; sweeps < 20 && openAi.requests.length < races; sweeps += 1) {
      await second.services.running.idle()
      await w.runDue()
    }
    expect(openAi.requests.length).toBe(races)
    const outcomes = await sql(
      `select c.is_under_ai_control as on, c.last_sequence as count, array_agg(m.role order by m.sequence) as roles,
         array_agg(m.context_id = c.context_id order by m.sequence) as archived,
         (select array_agg(g.actor_kind order by g.created_at) from control_change g where g.chat_id = c.id) as changes,
         -- Whether it came back in the transaction of the message.
         bool_or(m.sequence = 2 and exists (select 1 from control_change g where g.chat_id = c.id and g.xmin = m.xmin)) as "byMessage"
       from chat c join message m on m.chat_id = c.id where c.id <> $1 group by c.id`,
      [template.id],
    )
    const roles = ["Customer", "Customer", "Assistant"]
    const once = { on: true, count: 3, roles, archived: [true, null, null], changes: ["token", "system"], byMessage: expect.any(Boolean) }
    expect(outcomes).toEqual(Array(races).fill(once))
    const byMessage = outcomes.filter((outcome) => outcome.byMessage).length
    expect(byMessage).toBeGreaterThan(0)
    expect(byMessage).toBeLessThan(races)
  })

  /** One such chat per race, each with its own customer; inserted by SQL, since their history is not under test. */
  async function copiesOf({ id }: { id: string }): Promise<{ id: string }[]> {
    const generated = new Set(["recency", "search_text"])
    const columns = async (table: string) =>
      (await sql("select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1", [table]))
        .map(({ name }) => name)
        .filter((name) => !generated.has(name))
    const copy = async (table: string, own: Record<string, string>, key: string) => {
      const all = await columns(table)
      return `insert into ${table} (${all}) select ${all.map((name) => own[name] ?? `t.${name}`)} from ${table} t, copy where t.${key} = $1`
    }
    const made = await sql(
      `with copy as (select gen_random_uuid() as id from generate_series(1, ${races})), chats as (
         ${await copy("chat", { id: "copy.id", external_id: "copy.id::text" }, "id")} returning id
       ), messages as (${await copy("message", { id: "gen_random_uuid()", chat_id: "copy.id" }, "chat_id")}),
       changes as (${await copy("control_change", { id: "gen_random_uuid()", chat_id: "copy.id" }, "chat_id")})
       select id from chats`,
      [id],
    )
    return made.map((row) => ({ id: row.id }))
  }

  async function twentyAtOnce<T>(list: T[], act: (each: T, index: number) => PromiseLike<unknown>) {
    for (let at = 0; at < list.length; at += 20) await Promise.all(list.slice(at, at + 20).map((each, index) => act(each, at + index)))
  }
})

describe("the job scheduler", () => {
  const w = world({ AUTO_RESUME_AFTER_MS: "2500", CONTEXT_WINDOW_MS: "2000" })

  it("starts the return when its time has come", async () => {
    const { acme, rest } = w
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    await acme.message({ chatId: chat.id, role: "Customer" })
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["CHAT_MODE_CHANGED"] })
    // The chat is quiet from a moment before the event of the hand-off is made.
    const begin = Date.now()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)
    const [off, on] = await heard.take(2)
    await heard.stop()
    expect([off!.payload.isUnderAiControl, on!.payload.isUnderAiControl]).toEqual([false, true])
    expect(Date.parse(on!.createdAt) - begin).toBeGreaterThanOrEqual(2_500)
    expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body.contextId).not.toBeNull()
  })
})
