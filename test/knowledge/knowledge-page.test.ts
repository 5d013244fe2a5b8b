import { systemContext } from "../../src/context/request-context.js"
import { Knowledge } from "../../src/entities/knowledge.js"
import { knowledgeLimits } from "../../src/knowledge/limits.js"
import { administration } from "../kit/command-line.js"
import { startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { indexAll, knowledgeOf } from "../kit/knowledge.js"
import { openSite, webPage } from "../kit/site.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const [vendor, site] = [await startFakeEmbeddings(), await openSite()]
afterAll(() => Promise.all([vendor.close(), site.close()]))
const ordinary = vendor.reply

const w = world({ EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" })
const { acme, globex, sql, clock } = w
const { look, change, chunks } = knowledgeOf(w)
const { done, run } = administration(w)

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  vendor.requests.length = site.requests.length = 0
  vendor.reply = ordinary
})

let count = 0
/** A new page, and an item for it. */
async function pageItem(page: (typeof site.pages)[string], more: object = {}) {
  const path = `/page-${count++}`
  site.pages[path] = page
  const item = await acme.makeKnowledge({ kind: "url", resourceContent: undefined, resourceUrl: site.url + path, ...more })
  return { id: item.id as string, path }
}
const returns = (days: number) => ({
  body: webPage("Returns", `Goods may be returned within ${days} days.`, "Shipping back is free."),
  headers: { etag: `"${days}"` },
})
async function indexedPage() {
  const made = await pageItem(returns(30))
  await indexAll(w)
  expect(await look(made.id)).toMatchObject({ indexStatus: "indexed", indexError: null })
  vendor.requests.length = site.requests.length = 0
  return made
}
const askAgain = (id: string) =>
  systemContext(w.services, acme.id).transaction(async ({ em }) => (await em.findOneOrFail(Knowledge, { id })).recrawl())
const recrawl = async (id: string) => {
  await askAgain(id)
  await indexAll(w)
}
const generation = async (id: string) => (await sql("select index_generation from knowledge where id = $1", [id]))[0].index_generation

describe("a page", () => {
  it("is crawled and indexed, and its text is shown", async () => {
    const { id } = await pageItem(returns(30), { chunkSize: 200, chunkOverlap: 0 })
    await indexAll(w)
    const text = "## Returns\n\nGoods may be returned within 30 days.\n\nShipping back is free."
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 1, resourceContent: text })
    expect((await chunks(id)).map(({ content }) => content)).toEqual([text])
  })

  it.each([
    ["missing", { status: 404 }, "The page answered 404 Not Found"],
    ["a loop of redirects", { status: 302, headers: { location: "?" } }, /^The page redirects/],
    ["without text", { body: "<div></div>" }, "The page has no text"],
    ["a picture", { body: "x", headers: { "content-type": "image/png" } }, /^The page holds no text \(image\/png\)/],
    ["a broken PDF", { body: "%PDF-1.7 broken", headers: { "content-type": "application/pdf" } }, /^The page is no PDF that can be read/],
  ])("that is %s fails at once, with the reason", async (_what, page, reason) => {
    const { id } = await pageItem(page)
    await indexAll(w)
    const item = await look(id)
    expect(item).toMatchObject({ indexStatus: "failed", chunkCount: 0, resourceContent: null })
    expect(item.indexError).toMatch(reason)
  })

  it("that does not respond is retried a little later, and fails after the third time", async () => {
    const { id, path } = await pageItem({ status: 503 })
    for (const seconds of [0, 2, 4, 60]) {
      clock.advance(seconds * 1_000)
      await indexAll(w)
    }
    expect(site.requests.map((request) => request.path)).toEqual(Array(knowledgeLimits.crawlTries).fill(path))
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: "The page answered 503 Service Unavailable" })
  })

  it("on a private network is refused", async () => {
    const guarded = await w.another({ ALLOW_PRIVATE_NETWORK: "false", EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" })
    await stopScheduler(guarded)
    const { id } = await pageItem(returns(30))
    await indexAll(guarded)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: "The address is not on the public internet" })
    expect(site.requests).toEqual([])
    await guarded.stop()
  })
})

describe("a page that is crawled again", () => {
  it("and did not change keeps its index; it is not transferred, parsed or embedded", async () => {
    const { id, path } = await indexedPage()
    const before = await generation(id)
    site.pages[path] = (request, response) => response.writeHead(request.headers["if-none-match"] === '"30"' ? 304 : 500).end()
    await recrawl(id)
    expect(site.requests).toHaveLength(1)
    expect(vendor.requests).toEqual([])
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
    expect(await generation(id)).toBe(before)
  })

  it("and changed stays searchable as it was, until its new index replaces the old one in one step", async () => {
    const { id, path } = await indexedPage()
    const before = await chunks(id)
    site.pages[path] = returns(14)
    const midway: object[] = []
    vendor.reply = async (request) => {
      midway.push({ item: await look(id), chunks: await chunks(id) })
      return ordinary(request)
    }
    await recrawl(id)
    expect(midway).toEqual([{ item: expect.objectContaining({ indexStatus: "indexed", indexError: null }), chunks: before }])
    expect((await look(id)).resourceContent).toContain("within 14 days")
    expect((await chunks(id))[0].content).toContain("within 14 days")
    site.pages[path] = (request, response) => response.writeHead(request.headers["if-none-match"] === '"14"' ? 304 : 500).end()
    await recrawl(id)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
  })

  it("and is gone stays indexed as it was, with the reason", async () => {
    const { id, path } = await indexedPage()
    const before = await chunks(id)
    site.pages[path] = { status: 410 }
    await recrawl(id)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: "The page answered 410 Gone", chunkCount: 1 })
    expect(await chunks(id)).toEqual(before)
    site.pages[path] = returns(7)
    await recrawl(id)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
  })

  it("is split again from the stored text when only the chunk size changes", async () => {
    const { id, path } = await indexedPage()
    site.pages[path] = { status: 304 }
    expect(await change(id, { chunkSize: 200, chunkOverlap: 10 })).toMatchObject({ indexStatus: "pending" })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 1, resourceContent: expect.stringContaining("30 days") })
  })

  it("at another address is read from there, whatever the version of the old one", async () => {
    const { id } = await indexedPage()
    site.pages["/elsewhere"] = returns(3)
    await change(id, { resourceUrl: `${site.url}/elsewhere` })
    expect((await look(id)).resourceContent).toBeNull()
    await indexAll(w)
    expect(site.requests[0]!.headers["if-none-match"]).toBeUndefined()
    expect((await look(id)).resourceContent).toContain("within 3 days")
  })

  it("at another address during a crawl of the old one has the content of the new one", async () => {
    const { id, path } = await indexedPage()
    site.pages["/moved"] = returns(3)
    site.pages[path] = async (_request, response) => {
      await change(id, { resourceUrl: `${site.url}/moved` })
      // Embedded already, so that nothing is embedded before the index is stored.
      response.writeHead(200, { "content-type": "text/html" }).end(returns(30).body)
    }
    await recrawl(id)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", resourceContent: expect.stringContaining("within 3 days") })
    expect((await chunks(id))[0].content).toContain("within 3 days")
  })

  it("during a crawl is crawled once more", async () => {
    const { id, path } = await indexedPage()
    site.pages[path] = async (_request, response) => {
      site.pages[path] = returns(2)
      await askAgain(id)
      response.writeHead(200, { "content-type": "text/html" }).end(returns(1).body)
    }
    await recrawl(id)
    await indexAll(w)
    expect((await look(id)).resourceContent).toContain("within 2 days")
  })
})

describe("the command to crawl again", () => {
  it("takes a company, an assistant or an item, and names the items", async () => {
    const assistant = await acme.makeAssistant()
    const mine = await pageItem(returns(30), { assistantId: assistant.id, name: "Mine" })
    const { id: textId } = await acme.makeKnowledge({ assistantId: assistant.id, isVector: true })
    await indexAll(w)
    const shown = { id: mine.id, assistantId: assistant.id, name: "Mine", resourceUrl: site.url + mine.path, indexStatus: "indexed" }
    const commands: Record<string, string>[] = [
      { company: acme.id, assistant: assistant.id },
      { company: acme.id, id: mine.id },
      { company: globex.id },
    ]
    expect(await Promise.all(commands.map((options) => done("knowledge:recrawl", options)))).toEqual([[shown], [shown], []])
    const all = await done("knowledge:recrawl", { company: acme.id })
    expect(all.length).toBeGreaterThan(1)
    expect(all).toContainEqual(shown)
    const refused: Record<string, string>[] = [
      { company: acme.id, id: textId },
      { company: globex.id, id: mine.id },
      { company: acme.id, id: "nonsense" },
    ]
    for (const ended of await Promise.all(refused.map((options) => run("knowledge:recrawl", options))))
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/has the id/) })
  })

  it("retries failed items", async () => {
    const { id, path } = await pageItem({ status: 404 })
    await indexAll(w)
    expect((await look(id)).indexStatus).toBe("failed")
    site.pages[path] = returns(30)
    expect((await done("knowledge:recrawl", { company: acme.id, id }))[0]).toMatchObject({ indexStatus: "pending" })
    // The clock of this process was moved forward above, that of the command was not.
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", indexError: null })
  })
})
