import { startFakeOpenAi } from "../kit/fake-openai.js"
import { indexAll } from "../kit/knowledge.js"
import { chatViews, hold, stillTime, stopScheduler, systemOf, unwrapped } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, gql, sql } = w
const { write, said, look } = chatViews(w)
const time = stillTime()
const texts = {
  returns: "Returns are accepted within 30 days of purchase.\n\nThe parcel label is in the box.",
  warranty: "Every kettle has a warranty of two years.\n\nBatteries are excluded from the warranty.",
}

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  openAi.requests.length = 0
})

/** An assistant with one searchable item and one in its prompt. */
async function librarian(fields = {}) {
  const assistant = await acme.makeAssistant({ name: "Lib", ...fields })
  const make = (name: string, resourceContent: string, isVector: boolean) =>
    acme.makeKnowledge({ assistantId: assistant.id, name, resourceContent, isVector })
  const returns = await make("Returns", texts.returns, true)
  const warranty = await make("Warranty", texts.warranty, false)
  await indexAll(w)
  return { assistant, returns, warranty }
}

async function asked(assistant: { id: string }, text: string) {
  const chat = await acme.chat({ assistantId: assistant.id })
  await write(chat, text)
  time.pass(4_000)
  return chat
}

const answerIn = async (chat: { id: string }) =>
  (await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=1`).expect(200)).body.data[0]
const credits = async () => (await sql("select embedding_credits as left from company where id = $1", [acme.id]))[0].left
const search = (query: string) => ({ toolCalls: [{ id: "call_1", name: "searchKnowledge", arguments: { query } }] })
const toolNames = () => openAi.requests[0]!.body.tools.map((tool: { function: { name: string } }) => tool.function.name)

describe("an answer from knowledge", () => {
  it("has the found chunks that it uses as sources, for a credit; the call is in the chat and in the log", async () => {
    const { assistant, returns } = await librarian()
    const replies = [search("how long may I return something"), { text: "You can make returns within 30 days of the purchase." }]
    openAi.reply = async () => replies.shift()!
    const before = await credits()
    const chat = await asked(assistant, "How long may I return it?")
    await w.runDue()

    expect(await credits()).toBe(before - 1)
    expect(await said(chat)).toHaveLength(4)
    const [chunk] = await sql("select id from knowledge_chunk where knowledge_id = $1 and content like 'Returns%'", [returns.id])
    expect((await answerIn(chat)).sources).toEqual([{ knowledgeId: returns.id, knowledgeName: "Returns", chunkId: chunk.id }])
    const { content } = openAi.requests[1]!.body.messages.at(-1)
    expect(JSON.parse(unwrapped(content)).data[0]).toMatchObject({ knowledgeName: "Returns", content: expect.stringContaining("30 days") })
    const { body: tools } = await rest.as(acme.token).get(`/api/assistant-tools-new?assistantId=${assistant.id}&search=searchKnowledge`)
    const { body: log } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tools.data[0].id}/logs`).expect(200)
    expect(log.data).toMatchObject([{ chatId: chat.id, status: "success", params: { query: "how long may I return something" } }])
  })

  it("has the item of the prompt as source when it uses that, and none when it uses neither", async () => {
    const { assistant, warranty } = await librarian()
    openAi.reply = async () => ({ text: "A kettle has two years of warranty." })
    const chat = await asked(assistant, "What about the warranty of my kettle?")
    await w.runDue()
    expect((await answerIn(chat)).sources).toEqual([{ knowledgeId: warranty.id, knowledgeName: "Warranty", chunkId: null }])
    const { data } = await gql(acme.token, "query ($id: UUID!) { messages(chatId: $id, first: 1) { nodes { sources { chunkId } } } }", {
      id: chat.id,
    })
    expect(data.messages.nodes[0].sources).toEqual([{ chunkId: null }])
    expect(systemOf(openAi.requests[0]!)).toContain(texts.warranty)
    expect(systemOf(openAi.requests[0]!)).not.toContain(texts.returns)

    openAi.reply = async () => ({ text: "Hello, how may I help?" })
    const greeted = await asked(assistant, "Hi")
    await w.runDue()
    expect((await answerIn(greeted)).sources).toEqual([])
  })

  it("in another language than the knowledge has everything that its search found as sources", async () => {
    const { assistant, returns } = await librarian()
    const replies = [search("returns parcel"), { text: "Sie können dreißig Tage lang umtauschen." }]
    openAi.reply = async () => replies.shift()!
    const chat = await asked(assistant, "Wie lange kann ich umtauschen?")
    await w.runDue()
    const { sources } = await answerIn(chat)
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.every(({ knowledgeId }: { knowledgeId: string }) => knowledgeId === returns.id)).toBe(true)
  })

  it("keeps its sources when another worker answers from the first one's search", async () => {
    const { assistant, returns } = await librarian()
    const model = hold(openAi)
    const chat = await asked(assistant, "How long may I return it?")
    const done = w.runDue()
    ;(await model.next()).answer(search("returns"))
    ;(await model.next()).answer({ status: 500 })
    await done
    time.pass(1_000)
    const again = w.runDue()
    ;(await model.next()).answer({ text: "Returns are accepted within 30 days." })
    await again
    expect((await answerIn(chat)).sources).toMatchObject([{ knowledgeId: returns.id }])
    expect(openAi.requests).toHaveLength(3)
  })

  it("of the offline model searches and quotes, with its source", async () => {
    const { data } = await gql(acme.token, "{ textModels { id } }")
    const { assistant, returns } = await librarian({ textModelId: data.textModels.at(-1).id })
    const chat = await asked(assistant, "Within how many days are returns accepted?")
    await w.runDue()
    const answer = await answerIn(chat)
    expect(answer.text).toContain("within 30 days")
    expect(answer.sources).toMatchObject([{ knowledgeId: returns.id, knowledgeName: "Returns" }])
  })

  it("is shown without its sources to the visitor", async () => {
    const { assistant } = await librarian()
    openAi.reply = async () => ({ text: "A kettle has two years of warranty." })
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hi" }).expect(201)
    await rest.as(acme.token).patch(`/api/chats/${body.chatId}/assign-assistant`, { assistantId: assistant.id }).expect(200)
    await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Kettle warranty?", visitorToken: body.visitorToken }).expect(201)
    time.pass(4_000)
    await w.runDue()
    const query = "query ($id: UUID!) { messages(chatId: $id, first: 1) { nodes { text sources { knowledgeId } } } }"
    const { data } = await gql(body.visitorToken, query, { id: body.chatId })
    expect(data.messages.nodes).toEqual([{ text: "A kettle has two years of warranty.", sources: [] }])
  })
})

describe("searching", () => {
  it("is offered to assistants that have something to search", async () => {
    openAi.reply = async () => ({ text: "Yes" })
    await asked((await librarian()).assistant, "Hi")
    await w.runDue()
    expect(toolNames()).toContain("searchKnowledge")
    openAi.requests.length = 0
    await asked(await acme.makeAssistant({ name: "Eve" }), "Hi")
    await w.runDue()
    expect(toolNames()).not.toContain("searchKnowledge")
  })

  it("without credits is reported to the model, and the turn continues", async () => {
    const { assistant } = await librarian()
    const left = await credits()
    await sql("update company set embedding_credits = 0 where id = $1", [acme.id])
    const replies = [search("returns"), { text: "I cannot look it up now." }]
    openAi.reply = async () => replies.shift()!
    const chat = await asked(assistant, "How long may I return it?")
    await w.runDue()
    await sql("update company set embedding_credits = $2 where id = $1", [acme.id, left])
    expect(openAi.requests[1]!.body.messages.at(-1).content).toContain("no embedding credits left")
    expect(await answerIn(chat)).toMatchObject({ text: "I cannot look it up now.", sources: [] })
    expect(await look(chat)).toMatchObject({ isUnderAiControl: true })
  })
})
