import { entityLimits } from "../../src/entities/limits.js"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { knowledgeLimits } from "../../src/knowledge/limits.js"
import { startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { indexAll, knowledgeOf, paragraphs } from "../kit/knowledge.js"
import { promised } from "../kit/promise.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = await startFakeEmbeddings()
afterAll(() => vendor.close())
const ordinary = vendor.reply

const environment = { EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" }
const w = world(environment)
const { acme, globex, sql } = w
const { look, change, remove, chunks, kept } = knowledgeOf(w)
const time = stillTime()

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  vendor.requests.length = 0
  vendor.reply = ordinary
})

/** The texts that the vendor has embedded since the test began. */
const embedded = () => vendor.requests.flatMap(({ input }) => input)
const searchable = (texts: string[], more: object = {}) =>
  acme.makeKnowledge({ resourceContent: texts.join("\n\n"), isVector: true, chunkSize: 200, chunkOverlap: 0, ...more })
const indexed = async (texts: string[]) => {
  const { id } = await searchable(texts)
  await indexAll(w)
  expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: texts.length })
  vendor.requests.length = 0
  return id as string
}
let unique = 0
/** Paragraphs that are unique to the test. */
const some = (count: number) => paragraphs(count, `Text ${unique++}, part`)

/** Holds the next calls of the vendor until each is released. */
function held() {
  const waiting: (() => void)[] = []
  const arrived: (() => void)[] = []
  let came = 0
  let [atOnce, most] = [0, 0]
  const counted = async (request: Parameters<typeof ordinary>[0], before?: Promise<void>) => {
    most = Math.max(most, ++atOnce)
    await before
    atOnce -= 1
    return ordinary(request)
  }
  vendor.reply = (request) => {
    came += 1
    for (const tell of arrived.splice(0)) tell()
    return counted(request, new Promise<void>((letGo) => waiting.push(letGo)))
  }
  return {
    calls: (count: number) => {
      const calls = async () => {
        while (came < count) await new Promise<void>((tell) => arrived.push(tell))
      }
      return happens(`the vendor has ${count} calls`, calls(), () => `${came} calls`)
    },
    inFlight: () => waiting.length,
    /** The most calls that were under way at once. */
    most: () => most,
    letGo() {
      vendor.reply = (request) => counted(request)
      for (const go of waiting.splice(0)) go()
    },
  }
}

describe("a searchable item", () => {
  it("is pending until its chunks are stored, in order, each with its vector", async () => {
    const texts = some(3)
    const item = await searchable(texts)
    expect(item).toMatchObject({ indexStatus: "pending", indexError: null, chunkCount: 0, chunkSize: 200, chunkOverlap: 0 })
    expect(await chunks(item.id)).toEqual([])
    await indexAll(w)
    expect(await look(item.id)).toMatchObject({
      indexStatus: "indexed",
      indexError: null,
      chunkCount: 3,
      resourceContent: texts.join("\n\n"),
    })
    const made = texts.map((content, position) => ({ id: expect.any(String), position, content, model: "openai/letters", dimensions: 27 }))
    expect(await chunks(item.id)).toEqual(made)
    const [{ length }] = await sql(
      "select sqrt((select sum(x * x) from unnest(embedding) x)) as length from knowledge_chunk where knowledge_id = $1",
      [item.id],
    )
    expect(length).toBeCloseTo(1, 5)
  })

  it("costs no credits to index", async () => {
    const credits = async () => (await sql("select embedding_credits from company where id = $1", [acme.id]))[0].embedding_credits
    const before = await credits()
    await indexed(some(2))
    expect(await credits()).toBe(before)
  })

  it("is indexed again when its content changes, and only changed chunks are embedded; the others keep their ids", async () => {
    const texts = some(5)
    const id = await indexed(texts)
    const before = await chunks(id)
    const [changed, added] = some(2) as [string, string]
    const next = [added, texts[0]!, texts[1]!, changed, texts[3]!, texts[4]!]
    expect(await change(id, { resourceContent: next.join("\n\n") })).toMatchObject({ indexStatus: "pending", chunkCount: 0 })
    await indexAll(w)
    expect(embedded().sort()).toEqual([added, changed].sort())
    const after = await chunks(id)
    expect(after.map((chunk) => chunk.content)).toEqual(next)
    const idOf = (rows: typeof after, text: string) => rows.find((chunk) => chunk.content === text).id
    for (const text of [texts[0]!, texts[1]!, texts[3]!, texts[4]!]) expect(idOf(after, text)).toBe(idOf(before, text))
    expect(await kept(id)).toHaveLength(6)
  })

  it("embeds a text once that it contains twice", async () => {
    const [one, two] = some(2) as [string, string]
    const { id } = await searchable([one, two, one, two, one])
    await indexAll(w)
    expect(embedded().sort()).toEqual([one, two].sort())
    expect((await chunks(id)).map(({ content }) => content)).toEqual([one, two, one, two, one])
  })

  promised("reuses vectors of the company's other items, and none of another company's", async () => {
    const texts = some(3)
    await indexed(texts)
    const copy = await searchable(texts)
    await indexAll(w)
    expect(embedded()).toEqual([])
    expect(await look(copy.id)).toMatchObject({ indexStatus: "indexed", chunkCount: 3 })
    const fields = { isVector: true, chunkSize: 200, chunkOverlap: 0, resourceContent: texts.join("\n\n") }
    await globex.makeKnowledge({ assistantId: globex.assistant.id, ...fields })
    await indexAll(w)
    expect(embedded()).toEqual(texts)
  })

  it.each([
    ["the same content", async (id: string) => ({ resourceContent: (await look(id)).resourceContent }), []],
    ["another overlap", async () => ({ chunkOverlap: 20 }), []],
  ])("is indexed again for %s, and nothing is embedded twice", async (_what, body, asked) => {
    const id = await indexed(some(3))
    expect(await change(id, await body(id))).toMatchObject({ indexStatus: "pending" })
    await indexAll(w)
    expect(embedded()).toEqual(asked)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 3 })
  })

  it("is split again for another size", async () => {
    const id = await indexed(some(6))
    await change(id, { chunkSize: 400 })
    await indexAll(w)
    expect((await look(id)).chunkCount).toBe(3)
    expect(await kept(id)).toHaveLength(3)
  })

  it("stays indexed when it is renamed", async () => {
    const id = await indexed(some(1))
    expect(await change(id, { name: "Renamed" })).toMatchObject({ indexStatus: "indexed", chunkCount: 1 })
  })

  it("loses its index when it is no longer searchable, and gets it back", async () => {
    const id = await indexed(some(2))
    expect(await change(id, { isVector: false })).toMatchObject({ indexStatus: null, chunkCount: 0 })
    expect(await kept(id)).toEqual([])
    expect(await change(id, { isVector: true })).toMatchObject({ indexStatus: "pending" })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 2 })
  })

  it("fails with a reason when it makes too many chunks", async () => {
    const { id } = await searchable([Array.from({ length: 60_000 }, (_, index) => `word${index}`).join(" ")], { chunkOverlap: 100 })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: expect.stringMatching(/more than 5000: choose a larger/) })
    expect(embedded()).toEqual([])
  })

  it("fails with a reason when it has nothing to search", async () => {
    const { id } = await searchable(["--- *** ---"])
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: "There is no text to search in", chunkCount: 0 })
  })
})

describe("an item that changes while it is indexed", () => {
  it("gets the index of its current content, whatever a late worker stores", async () => {
    const [old, fresh] = [some(2), some(2)]
    const { id } = await searchable(old)
    const hold = held()
    const running = indexAll(w)
    await hold.calls(1)
    await change(id, { resourceContent: fresh.join("\n\n") })
    hold.letGo()
    await running
    await indexAll(w)
    expect((await chunks(id)).map(({ content }) => content)).toEqual(fresh)
    expect(await kept(id)).toHaveLength(2)
  })

  it("leaves nothing behind when it is deleted, itself or with its assistant", async () => {
    const assistant = await acme.makeAssistant()
    const one = await searchable(some(2))
    const other = await searchable(some(2), { assistantId: assistant.id })
    const hold = held()
    const running = indexAll(w)
    await hold.calls(2)
    await remove(one.id)
    await sql("delete from assistant where id = $1", [assistant.id])
    hold.letGo()
    await running
    expect([await kept(one.id), await kept(other.id)]).toEqual([[], []])
    expect(await sql("select 1 from knowledge where id = any($1)", [[one.id, other.id]])).toEqual([])
  })

  it("does not fail for its former content", async () => {
    const [old, fresh] = [some(1), some(1)]
    const { id } = await searchable(old)
    vendor.reply = async () => {
      vendor.reply = ordinary
      await change(id, { resourceContent: fresh.join("\n\n") })
      return { status: 401 }
    }
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
    expect((await chunks(id)).map(({ content }) => content)).toEqual(fresh)
  })

  it("embeds vectors that it was to reuse from an item that is deleted at that moment", async () => {
    const [shared, mine] = some(2) as [string, string]
    const other = await indexed([shared])
    const { id } = await searchable([shared, mine])
    const hold = held()
    const running = indexAll(w)
    await hold.calls(1)
    await remove(other)
    hold.letGo()
    await running
    expect(embedded()).toEqual([mine, shared])
    expect((await chunks(id)).map(({ content }) => content)).toEqual([shared, mine])
  })

  it("has no index in the end when it is no longer searchable", async () => {
    const { id } = await searchable(some(2))
    const hold = held()
    const running = indexAll(w)
    await hold.calls(1)
    await change(id, { isVector: false })
    hold.letGo()
    await running
    expect(await look(id)).toMatchObject({ indexStatus: null, chunkCount: 0 })
    expect(await kept(id)).toEqual([])
  })
})

describe("when the vendor of embeddings fails", () => {
  it("temporary failures are retried, later each time, and fail in the end with their reason", async () => {
    const { id } = await searchable(some(1))
    vendor.reply = async () => ({ status: 503, message: "overloaded" })
    const waits = []
    for (let seconds = 0; (await look(id)).indexStatus === "pending" && seconds < 120; seconds += 1) {
      const before = vendor.requests.length
      await indexAll(w)
      if (vendor.requests.length > before) waits.push(seconds)
      time.pass(1_000)
    }
    expect(waits).toEqual([0, 2, 6, 14, 30])
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: expect.stringMatching(/^The embedding service .*503/) })
    vendor.reply = ordinary
    const { resourceContent } = await look(id)
    expect(await change(id, { resourceContent })).toMatchObject({ indexStatus: "pending", indexError: null })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
  })

  it("permanent failures fail at once", async () => {
    const { id } = await searchable(some(1))
    vendor.reply = async () => ({ status: 401, message: "bad key" })
    await indexAll(w)
    expect(vendor.requests).toHaveLength(1)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: expect.stringMatching(/401/) })
  })

  it("chunks that were embedded are not embedded again", async () => {
    const texts = some(knowledgeLimits.indexingBatch + 10)
    const { id } = await searchable(texts)
    vendor.reply = async (request) => (vendor.requests.length === 1 ? ordinary(request) : "reset")
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "pending", chunkCount: 0 })
    expect(await chunks(id)).toEqual([])
    vendor.reply = ordinary
    vendor.requests.length = 0
    time.pass(entityLimits.indexingRetryBaseMs)
    await indexAll(w)
    expect(embedded()).toEqual(texts.slice(knowledgeLimits.indexingBatch))
    expect((await chunks(id)).map(({ content }) => content)).toEqual(texts)
    expect(await kept(id)).toHaveLength(texts.length)
  })
})

describe("workers", () => {
  it("index several items at once, and no more than their slots", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => searchable(some(1))))
    const hold = held()
    const running = indexAll(w)
    await hold.calls(knowledgeLimits.indexingBatchSlots)
    const company = knowledgeLimits.indexingSlots.company
    await until("the company's slots are taken", () => indexKnowledge.running(w.services) === company)
    expect([hold.inFlight(), indexKnowledge.running(w.services)]).toEqual([knowledgeLimits.indexingBatchSlots, company])
    hold.letGo()
    await running
    for (const { id } of made) expect((await look(id)).indexStatus).toBe("indexed")
    expect(indexKnowledge.running(w.services)).toBe(0)
    // Neither while the others waited nor afterwards.
    expect(hold.most()).toBe(knowledgeLimits.indexingBatchSlots)
  })

  promised("of two instances never index the same item", async () => {
    const other = await w.another(environment)
    await stopScheduler(other)
    const made = await Promise.all(Array.from({ length: 20 }, () => searchable(some(1))))
    await Promise.all([indexAll(w), indexAll(other), indexAll(w), indexAll(other)])
    for (const { id } of made) expect((await look(id)).indexStatus).toBe("indexed")
    expect(embedded()).toHaveLength(20)
    await other.stop()
  })

  promised("that die leave their item to another when the lease has expired, and store nothing after that", async () => {
    const other = await w.another(environment)
    await stopScheduler(other)
    const texts = some(2)
    const { id } = await searchable(texts)
    const hold = held()
    const dead = indexAll(other)
    await hold.calls(1)
    vendor.reply = ordinary
    await indexAll(w)
    expect((await look(id)).indexStatus).toBe("pending")
    time.pass(entityLimits.indexingLeaseMs)
    await indexAll(w)
    const before = await chunks(id)
    expect(before.map(({ content }) => content)).toEqual(texts)
    hold.letGo()
    await dead
    expect(await chunks(id)).toEqual(before)
    expect(await kept(id)).toHaveLength(2)
    await other.stop()
  })

  it("that are stopped release their item at once, without counting a try", async () => {
    const other = await w.another(environment)
    await stopScheduler(other)
    const { id } = await searchable(some(1))
    const hold = held()
    void indexAll(other)
    await hold.calls(1)
    await other.stop()
    hold.letGo()
    expect(await sql("select index_attempts, index_run from knowledge where id = $1", [id])).toEqual([
      { index_attempts: 0, index_run: null },
    ])
    await indexAll(w)
    expect((await look(id)).indexStatus).toBe("indexed")
  })

  it("give up an item that ends each of them", async () => {
    const { id } = await searchable(some(1))
    for (let lost = 0; lost < entityLimits.indexingLosses; lost += 1) {
      // The state that a killed worker leaves.
      const taken =
        "update knowledge set index_attempts = index_attempts + 1, index_run = gen_random_uuid(), index_due_at = null, index_lease_until = $2 where id = $1"
      await sql(taken, [id, new Date(time.now())])
    }
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: "Its indexing was interrupted 12 times" })
    expect(embedded()).toEqual([])
  })

  it("index one item of each company before a second of any", async () => {
    let isAmongTheFirst = false
    // All items begin at once; on a busy machine a later one may be read sooner. In the order of their times the late one is never among the first.
    for (let round = 0; round < 5 && !isAmongTheFirst; round += 1) {
      for (let item = 0; item < 8; item += 1) await searchable(some(1))
      time.pass(1_000)
      const [text] = some(1)
      await globex.makeKnowledge({ assistantId: globex.assistant.id, isVector: true, resourceContent: text })
      vendor.requests.length = 0
      const hold = held()
      const running = indexAll(w)
      await hold.calls(knowledgeLimits.indexingBatchSlots)
      isAmongTheFirst = embedded().includes(text!)
      hold.letGo()
      await running
    }
    expect(isAmongTheFirst).toBe(true)
  })
})

describe("another embedding", () => {
  it("makes a server index everything again at its start; items stay indexed meanwhile", async () => {
    const id = await indexed(some(2))
    const other = await w.another({ ...environment, EMBEDDING_MODEL: "other-letters" })
    await stopScheduler(other)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 2 })
    await indexAll(other)
    expect((await chunks(id)).map(({ model }) => model)).toEqual(["openai/other-letters", "openai/other-letters"])
    expect(await kept(id)).toHaveLength(2)
    await other.stop()
  })
})
