import { groupQuestions } from "../../src/jobs/group-questions.js"
import { retention } from "../../src/jobs/retention.js"
import { startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { indexAll } from "../kit/knowledge.js"
import { promised } from "../kit/promise.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())
const dayMs = 24 * 60 * 60 * 1_000

describe("questions that the knowledge does not answer", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url, TOOL_LOG_RETENTION_DAYS: "90" })
  const { acme, globex, rest, gql, sql } = w
  const { write, look } = chatViews(w)
  const time = stillTime()
  let assistant: { id: string }

  beforeAll(() => stopScheduler(w))
  beforeEach(async () => {
    assistant = await acme.makeAssistant({ name: "Lib" })
    const resourceContent = "Returns are accepted within 30 days of purchase.\n\nDelivery takes three days and costs five euros."
    await acme.makeKnowledge({ assistantId: assistant.id, name: "Shop", resourceContent, isVector: true })
    await indexAll(w)
  })

  /** A customer asks in a new chat, and the assistant searches for it. */
  async function ask(query: string, customer = query) {
    const chat = await acme.chat({ assistantId: assistant.id })
    const replies = [{ toolCalls: [{ id: "call_1", name: "searchKnowledge", arguments: { query } }] }, { text: "I do not know." }]
    openAi.reply = async () => replies.shift()!
    await write(chat, customer)
    time.pass(4_000)
    await w.runDue()
    return chat
  }
  const group = () => groupQuestions.run(w.services)
  const list = async (query = "", credential = acme.token) =>
    (await rest.as(credential).get(`/api/unanswered-questions?assistantId=${assistant.id}${query}`).expect(200)).body.data
  const close = (id: string, credential = acme.token) => rest.as(credential).post(`/api/unanswered-questions/${id}/close`)
  const reopen = (id: string, credential = acme.token) => rest.as(credential).post(`/api/unanswered-questions/${id}/reopen`)

  it("are those whose search found nothing that says anything about them; what was found is not listed", async () => {
    await ask("How long may I return a purchase?")
    await ask("What does delivery cost?")
    const chat = await ask("Do you offer gift wrapping?", "hi, is there gift wrapping?")
    const askedAt = new Date(time.now()).toISOString()
    const [only, ...others] = await list()
    expect(others).toEqual([])
    expect(only).toMatchObject({
      ...{ companyId: acme.id, assistantId: assistant.id, question: "Do you offer gift wrapping?", count: 1 },
      ...{ firstAskedAt: askedAt, lastAskedAt: askedAt },
      asked: [{ question: "Do you offer gift wrapping?", askedAt, chatId: chat.id, callId: null }],
    })
    const { body } = await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)
    expect(body.data[0]).toMatchObject({ knowledgeSearches: 1, knowledgeMisses: 1 })
  })

  it("are grouped by meaning, with their number, the last time and the chats, the most frequent first", async () => {
    await ask("Is there a guarantee for broken lamps?")
    const first = await ask("Do you offer gift wrapping?")
    time.pass(60_000)
    const second = await ask("Do you offer wrapping for gifts?")
    await group()
    await ask("Is gift wrapping something that you offer?")
    await group()
    await group()
    const [most, least] = await list()
    expect(most).toMatchObject({ question: "Do you offer gift wrapping?", count: 3, lastAskedAt: new Date(time.now()).toISOString() })
    expect(most.asked.map(({ chatId }: { chatId: string }) => chatId).slice(1)).toEqual([second.id, first.id])
    expect(least).toMatchObject({ question: "Is there a guarantee for broken lamps?", count: 1 })
    const { data } = await gql(
      acme.token,
      `query ($id: UUID!) { unansweredQuestions(assistantId: $id, first: 1) { totalCount pageInfo { hasNextPage endCursor }
        nodes { id assistant { name } asked { chat { id } } } } }`,
      { id: assistant.id },
    )
    expect(data.unansweredQuestions).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } })
    expect(data.unansweredQuestions.nodes[0]).toMatchObject({ id: most.id, assistant: { name: "Lib" } })
    expect(data.unansweredQuestions.nodes[0].asked[2].chat).toEqual({ id: first.id })
    const next = await list(`&take=1&cursor=${data.unansweredQuestions.pageInfo.endCursor}`)
    expect(next.map(({ id }: { id: string }) => id)).toEqual([least.id])
  })

  it("of a period are counted in it", async () => {
    await ask("Do you offer gift wrapping?")
    await group()
    time.pass(10 * dayMs)
    await ask("Do you offer gift wrapping?")
    await group()
    expect((await list())[0]).toMatchObject({ count: 2 })
    const weekAgo = new Date(time.now() - 7 * dayMs).toISOString()
    expect((await list(`&from=${weekAgo}`))[0]).toMatchObject({ count: 1 })
    expect((await list(`&to=${weekAgo}`))[0]).toMatchObject({ count: 1, lastAskedAt: expect.any(String) })
    expect(await list(`&from=${new Date(time.now() + 1).toISOString()}`)).toEqual([])
  })

  it("leave the list when they are closed, and come back when they are asked again", async () => {
    await ask("Do you offer gift wrapping?")
    await group()
    const [{ id }] = await list()
    expect((await close(id).expect(201)).body).toEqual({ closed: 1 })
    expect((await close(id).expect(201)).body).toEqual({ closed: 0 })
    expect(await list()).toEqual([])
    await ask("Do you offer gift wrapping?")
    await group()
    expect(await list()).toMatchObject([{ id, count: 1 }])
  })

  it("that were closed are listed by their state, counted with those that are open, and can be put back", async () => {
    await ask("Do you offer gift wrapping?")
    await ask("Do you offer gift wrapping?")
    await ask("Is there a guarantee for broken lamps?")
    await group()
    const [wrapping, guarantee] = await list()
    expect(wrapping).toMatchObject({ count: 2, closedAt: null })
    await close(wrapping.id).expect(201)
    const closedAt = new Date(time.now()).toISOString()
    expect(await list()).toEqual([guarantee])
    expect(await list("&state=CLOSED")).toEqual([{ ...wrapping, closedAt }])
    expect(await list("&state=ALL")).toEqual([{ ...wrapping, closedAt }, guarantee])
    time.pass(60_000)
    await ask("Do you offer gift wrapping?")
    await group()
    expect(await list("&state=OPEN")).toMatchObject([{ id: wrapping.id, count: 1 }, { id: guarantee.id }])
    expect(await list("&state=ALL")).toMatchObject([{ id: wrapping.id, count: 3, closedAt: null }, { id: guarantee.id }])
    expect(await list("&state=CLOSED")).toEqual([])
    expect((await reopen(wrapping.id).expect(201)).body).toEqual({ reopened: 2 })
    expect((await reopen(wrapping.id).expect(201)).body).toEqual({ reopened: 0 })
    expect(await list()).toMatchObject([
      { id: wrapping.id, count: 3 },
      { id: guarantee.id, count: 1 },
    ])
    await rest.as(acme.token).get("/api/unanswered-questions?state=GONE").expect(400)
  })

  promised("of one company are closed and seen by no other", async () => {
    await ask("Do you offer gift wrapping?")
    const [{ id }] = await list()
    expect(await list("", globex.token)).toEqual([])
    await close(id, globex.token).expect(404)
    await group()
    const [grouped] = await list()
    await close(grouped.id, globex.token).expect(404)
    expect(await list()).toHaveLength(1)
    await close(grouped.id).expect(201)
    expect(await list("&state=ALL", globex.token)).toEqual([])
    await reopen(grouped.id, globex.token).expect(404)
    expect(await list()).toEqual([])
  })

  it("are deleted with their chats, and with old bodies of tool calls; their groups too", async () => {
    const chat = await ask("Do you offer gift wrapping?")
    await ask("Do you offer gift wrapping?")
    await group()
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    expect(await list()).toMatchObject([{ count: 1 }])
    time.pass(91 * dayMs)
    await retention.run(w.services)
    expect(await sql("select 1 from asked_question where assistant_id = $1", [assistant.id])).toEqual([])
    expect(await sql("select 1 from question_group where assistant_id = $1", [assistant.id])).toEqual([])
  })

  it("are grouped once by two instances at the same time", async () => {
    const other = await w.another()
    await stopScheduler(other)
    for (let index = 0; index < 5; index++) await ask("Do you offer gift wrapping?")
    await Promise.all([group(), groupQuestions.run(other.services), group()])
    expect(await list()).toMatchObject([{ count: 5 }])
    expect(await sql("select 1 from question_group where assistant_id = $1", [assistant.id])).toHaveLength(1)
    await other.stop()
  })

  it("are those of searches on calls too", async () => {
    const call = await acme.call({ assistantId: assistant.id })
    const [tool] = await sql("select id from assistant_tool where assistant_id = $1 and name = 'searchKnowledge'", [assistant.id])
    const values = [acme.id, tool.id, call.id, JSON.stringify({ query: "Do you repair lamps?" }), new Date(time.now())]
    const [entry] = await sql(
      `insert into tool_call (id, company_id, tool_id, call_id, params, created_at) values (gen_random_uuid(), $1, $2, $3, $4, $5) returning id`,
      values,
    )
    await sql("update tool_call set status = 'success', success = true, found = false, response = '{\"data\": []}' where id = $1", [
      entry.id,
    ])
    expect(await list()).toMatchObject([{ question: "Do you repair lamps?", asked: [{ chatId: null, callId: call.id }] }])
  })

  it("are not those of a search that failed, nor of a call of another tool", async () => {
    await sql("update company set embedding_credits = 0 where id = $1", [acme.id])
    const chat = await ask("Do you offer gift wrapping?")
    await sql("update company set embedding_credits = 1000 where id = $1", [acme.id])
    expect((await look(chat)).isUnderAiControl).toBe(true)
    expect(await list()).toEqual([])
  })
})

describe("grouping while the embedding service is away", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, rest, sql } = w
  beforeAll(() => stopScheduler(w))

  it("leaves the questions as they are, and groups them when it is back", async () => {
    const vendor = await startFakeEmbeddings()
    const other = await w.another({ EMBEDDING_BASE_URL: vendor.url, EMBEDDING_API_KEY: "key" })
    await stopScheduler(other)
    const [tool] = await sql("select id from assistant_tool where assistant_id = $1 and name = 'searchKnowledge'", [acme.assistant.id])
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    for (let index = 0; index < 2; index++) {
      const [entry] = await sql(
        "insert into tool_call (id, company_id, tool_id, chat_id, params, created_at) values (gen_random_uuid(), $1, $2, $3, $4, now()) returning id",
        [acme.id, tool.id, chat.id, JSON.stringify({ query: "Do you repair lamps?" })],
      )
      await sql("update tool_call set status = 'success', success = true, found = false where id = $1", [entry.id])
    }
    const counts = async () =>
      (await rest.as(acme.token).get("/api/unanswered-questions").expect(200)).body.data.map(({ count }: { count: number }) => count)
    await vendor.close()
    await groupQuestions.run(other.services)
    expect(await counts()).toEqual([1, 1])
    await groupQuestions.run(w.services)
    expect(await counts()).toEqual([2])
    await other.stop()
  })
})
