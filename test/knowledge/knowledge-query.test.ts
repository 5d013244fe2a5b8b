import { v7 } from "uuid"
import { startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { indexAll, knowledgeOf } from "../kit/knowledge.js"
import { promised } from "../kit/promise.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const vendor = await startFakeEmbeddings()
afterAll(() => vendor.close())
const ordinary = vendor.reply

const w = world({ EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" })
const { acme, globex, rest, gql, sql } = w
const { path, change, chunks, remove } = knowledgeOf(w)

beforeAll(() => stopScheduler(w))
afterEach(() => {
  vendor.reply = ordinary
})

const credits = async (company = acme) =>
  (await sql("select embedding_credits from company where id = $1", [company.id]))[0].embedding_credits as number
const setCredits = (count: number) => sql("update company set embedding_credits = $2 where id = $1", [acme.id, count])
const ask = (body: object, company = acme) => rest.as(company.token).post(`${path}/query`, body)

/** An assistant with these texts as indexed items. */
async function knowing(...texts: string[]) {
  const { id: assistantId } = await acme.makeAssistant()
  const items = []
  for (const resourceContent of texts)
    items.push(await acme.makeKnowledge({ assistantId, name: resourceContent.split(" ")[0], isVector: true, resourceContent }))
  await indexAll(w)
  return { assistantId: assistantId as string, items }
}

describe("a query of an assistant's knowledge", () => {
  it("returns the matching chunks, best first, over both protocols", async () => {
    const { assistantId, items } = await knowing(
      "Parcels are delivered within three days.",
      "Refunds are paid within a week.",
      "Zebras sleep.",
    )
    const { body } = await ask({ assistantId, query: "When are parcels delivered?", take: 2 }).expect(201)
    expect(body).toEqual({ data: [expect.anything(), expect.anything()] })
    const [first, second] = body.data
    const [chunk] = await chunks(items[0].id)
    expect(first).toEqual({
      knowledgeId: items[0].id,
      knowledgeName: "Parcels",
      chunkId: chunk.id,
      content: "Parcels are delivered within three days.",
      position: 0,
      score: expect.any(Number),
    })
    expect([first.score <= 1, second.score >= 0, first.score >= second.score]).toEqual([true, true, true])
    const query =
      "mutation ($input: QueryKnowledgeInput!) { queryKnowledge(input: $input) { data { knowledgeId knowledgeName chunkId content position score } } }"
    const { data } = await gql(acme.token, query, { input: { assistantId, query: "When are parcels delivered?", take: 2 } })
    expect(data.queryKnowledge).toEqual(body)
  })

  it("finds five by default, and nothing without knowledge", async () => {
    const { assistantId } = await knowing(...Array.from({ length: 7 }, (_, index) => `Fact ${index} about parcels.`))
    expect((await ask({ assistantId, query: "parcels" }).expect(201)).body.data).toHaveLength(5)
    const { id } = await acme.makeAssistant()
    expect((await ask({ assistantId: id, query: "parcels" }).expect(201)).body).toEqual({ data: [] })
  })

  it("searches only indexed items", async () => {
    const { assistantId, items } = await knowing("Parcels one.", "Parcels two.", "Parcels three.", "Parcels four.")
    const found = async () => {
      const { body } = await ask({ assistantId, query: "parcels" }).expect(201)
      return body.data.map(({ content }: { content: string }) => content).sort()
    }
    expect(await found()).toHaveLength(4)
    await change(items[0].id, { resourceContent: "Parcels new." })
    await change(items[1].id, { isVector: false })
    await remove(items[2].id)
    expect(await found()).toEqual(["Parcels four."])
    await indexAll(w)
    expect(await found()).toEqual(["Parcels four.", "Parcels new."])
  })

  it.each([
    ["assistantId", v7()],
    ["assistantId", "nonsense"],
    ["assistantId", undefined],
    ["query", ""],
    ["query", "  "],
    ["query", "x".repeat(2_001)],
    ["query", undefined],
    ["take", 0],
    ["take", 51],
    ["take", "5"],
  ])("with a bad %s is 400, and costs nothing", async (field, value) => {
    const before = await credits()
    const { body } = await ask({ assistantId: acme.assistant.id, query: "parcels", [field]: value }).expect(400)
    // The message names the missing field.
    expect(value === undefined ? body.message : body.details[0].path).toContain(field)
    expect(await credits()).toBe(before)
  })

  promised("to another company's assistant is 400, and costs no credit", async () => {
    const before = [await credits(), await credits(globex)]
    await ask({ assistantId: globex.assistant.id, query: "parcels" }).expect(400)
    expect([await credits(), await credits(globex)]).toEqual(before)
  })
})

describe("a credit", () => {
  it("is spent by every query, with or without results, and 20 at once for the last 7 spend 7", async () => {
    const { assistantId } = await knowing("Parcels.")
    await setCredits(9)
    await ask({ assistantId, query: "parcels" }).expect(201)
    await ask({ assistantId, query: "zebras" }).expect(201)
    expect(await credits()).toBe(7)
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask({ assistantId, query: "parcels" })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7)
    for (const { body } of answers.filter(({ status }) => status !== 201))
      expect(body).toMatchObject({ statusCode: 400, message: "The company has no embedding credits left" })
    expect(await credits()).toBe(0)
    await setCredits(10_000)
  })

  it("is given back when the search fails", async () => {
    const { assistantId } = await knowing("Parcels.")
    const before = await credits()
    vendor.reply = async () => ({ status: 503 })
    const { data, errors } = await gql(
      acme.token,
      "mutation ($input: QueryKnowledgeInput!) { queryKnowledge(input: $input) { data { content } } }",
      { input: { assistantId, query: "parcels" } },
    )
    expect([data, errors?.length]).toEqual([null, 1])
    expect(await credits()).toBe(before)
  })
})
