import fc from "fast-check"
import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import type { Services } from "../../src/context/services.js"
import { askedWords } from "../../src/knowledge/full-text.js"
import { indexedItems } from "../../src/knowledge/indexed-items.js"
import { knowledgeLimits } from "../../src/knowledge/limits.js"
import { PackedVectors } from "../../src/knowledge/packed-vectors.js"
import { byMeaning, searchChunks } from "../../src/knowledge/search.js"
import { byWords } from "../../src/knowledge/search-words.js"
import { indexAll, knowledgeOf } from "../kit/knowledge.js"
import { promised } from "../kit/promise.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, sql } = w
const { remove } = knowledgeOf(w)

beforeAll(() => stopScheduler(w))

const context = (company = acme, services: Services = w.services) => systemContext(services, company.id)
const vectorOf = async (text: string) => (await w.services.embedding.embed([text], new AbortController().signal))[0]!

/** An assistant with these texts, one item each, and a function that searches it on an instance. */
async function knowing(...texts: string[]) {
  const { id: assistantId }: { id: string } = await acme.makeAssistant()
  const items: { id: string }[] = []
  for (const resourceContent of texts) items.push(await acme.makeKnowledge({ assistantId, resourceContent, isVector: true }))
  await indexAll(w)
  const search = async (query: string, services = w.services) =>
    (await searchChunks(context(acme, services), assistantId, query, await vectorOf(query), 5)).matches.map(({ content }) => content)
  return { assistantId, items, search }
}

describe("a search", () => {
  it("finds by words in any language, inflected, with and without accents, and in scripts without spaces", async () => {
    const texts = [
      "Die Öffnungszeiten der Filiale stehen an der Tür.",
      "退货的运费由我们承担。",
      "Повернення коштів триває тиждень.",
      "Deliveries leave the warehouse on weekdays.",
    ]
    const { assistantId } = await knowing(...texts)
    const first = async (query: string) => {
      const [id] = await byWords(context().reader, assistantId, askedWords(query))
      return id ? (await sql("select content from knowledge_chunk where id = $1", [id]))[0].content : null
    }
    expect(await first("offnungszeit")).toBe(texts[0])
    expect(await first("谁付退货运费")).toBe(texts[1])
    expect(await first("коли повернете кошти")).toBe(texts[2])
    expect(await first("is a delivery possible")).toBe(texts[3])
    expect(await first("shipping")).toBe(texts[3])
    expect(await first("the of and")).toBeNull()
  })

  it("counts a rare word more than a common one", async () => {
    const { search } = await knowing("Parcels and more parcels in parcels.", "Parcels with a barometer.", "Parcels.", "Parcels again.")
    expect((await search("parcels barometer"))[0]).toBe("Parcels with a barometer.")
  })

  it("accepts any query", async () => {
    const { assistantId } = await knowing("Barometers.")
    const typed = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.constantFrom("'", "\\", "a & !b", "a:*", "'x' | 'y", "(", "<->", "%", "@", "#1"),
    )
    await fc.assert(
      fc.asyncProperty(typed, async (query) => {
        const { matches } = await searchChunks(context(), assistantId, query, await vectorOf(query), 5)
        expect(Array.isArray(matches)).toBe(true)
      }),
      { numRuns: 150 },
    )
    const long = Array.from({ length: 400 }, (_, index) => `w${index}`).join(" ")
    expect((await searchChunks(context(), assistantId, `${long} barometers`, await vectorOf(long), 5)).matches).toHaveLength(1)
    expect(await searchChunks(context(), assistantId, "parcel".repeat(300), await vectorOf("x"), 5)).toEqual(expect.anything())
  })

  promised("finds nothing of another company, whichever assistant is named", async () => {
    const { assistantId } = await knowing("Parcels.")
    const vector = await vectorOf("parcels")
    expect(await byWords(context().reader, assistantId, askedWords("parcels"))).toHaveLength(1)
    expect(await byMeaning(context(), assistantId, vector)).toHaveLength(1)
    expect(await byWords(context(globex).reader, assistantId, askedWords("parcels"))).toEqual([])
    expect(await byMeaning(context(globex), assistantId, vector)).toEqual([])
    expect((await searchChunks(context(globex), assistantId, "parcels", vector, 5)).matches).toEqual([])
  })

  it("does not compare vectors of another model, and finds their chunks by words", async () => {
    const { assistantId, items, search } = await knowing("Parcels.")
    await sql("update knowledge set embedding_model = 'another' where id = $1", [items[0]!.id])
    expect(await byMeaning(context(), assistantId, await vectorOf("parcels"))).toEqual([])
    expect(await search("parcels")).toEqual(["Parcels."])
  })
})

describe("the vector cache", () => {
  it("is never stale: deletions and additions on one instance are visible on all", async () => {
    const { items, assistantId, search } = await knowing("Parcels one.", "Parcels two.")
    const other = await w.another()
    // The test does the indexing, so that it knows when it is done.
    await stopScheduler(other)
    const both = async () => [await search("parcels"), await search("parcels", other.services)].map((found) => found.sort())
    expect(await both()).toEqual(Array(2).fill(["Parcels one.", "Parcels two."]))
    await remove(items[0]!.id)
    expect(await both()).toEqual(Array(2).fill(["Parcels two."]))
    await acme.makeKnowledge({ assistantId, resourceContent: "Parcels three.", isVector: true })
    await indexAll(w)
    expect(await both()).toEqual(Array(2).fill(["Parcels three.", "Parcels two."]))
    await other.stop()
  })

  it("is read again when an index is replaced during a search, so that nothing is missing", async () => {
    const texts = ["Parcels one.", "Parcels two."]
    const { items, search } = await knowing(...texts)
    const swap = (id: string) =>
      sql(
        `with swapped as (update knowledge set index_generation = $2 where id = $1)
         update knowledge_chunk set generation = $2, id = gen_random_uuid() where knowledge_id = $1`,
        [id, v7()],
      )
    let swaps = 0
    const { vectors } = w.services
    const swapping = (most: number): Services => ({
      ...w.services,
      vectors: {
        async nearest(...asked) {
          const found = await vectors.nearest(...asked)
          // Between the search and the reading of its results.
          if (swaps++ < most) await swap(items[0]!.id)
          return found
        },
      },
    })
    expect((await search("parcels", swapping(1))).sort()).toEqual(texts)
    expect(swaps).toBe(2)
    // Endless replacements do not block the search for ever.
    swaps = 0
    expect(await search("parcels", swapping(Number.POSITIVE_INFINITY))).toContain("Parcels two.")
    expect(swaps).toBe(knowledgeLimits.knowledgeSearchTries)
  })

  it("is bounded, and what does not fit is read again", async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `Parcel ${index} weighs ${index * 7} kilos.`)
    const { assistantId } = await knowing(...texts)
    const items = await indexedItems(context().reader, assistantId, w.services.embedding.id)
    expect(items).toHaveLength(texts.length)
    const oneVector = w.services.embedding.dimensions! * 4
    const [roomy, tight, none] = [new PackedVectors(), new PackedVectors(5 * oneVector), new PackedVectors(oneVector / 2)]
    for (const query of ["parcel", "49 kilos", "weighs 14"]) {
      const vector = await vectorOf(query)
      const found = await roomy.nearest(context(), assistantId, items, vector)
      expect(found.length).toBeGreaterThan(0)
      for (const bounded of [tight, none]) expect(await bounded.nearest(context(), assistantId, items, vector)).toEqual(found)
      expect(tight.bytes).toBeLessThanOrEqual(5 * oneVector)
      expect(none.bytes).toBe(0)
    }
    expect(roomy.bytes).toBeGreaterThanOrEqual(texts.length * oneVector)
  })

  it("is read once for concurrent searches", async () => {
    const { assistantId } = await knowing("Parcels one.", "Parcels two.")
    const items = await indexedItems(context().reader, assistantId, w.services.embedding.id)
    const vectors = new PackedVectors()
    const vector = await vectorOf("parcels")
    let reads = 0
    const counting = () => {
      const one = context()
      const { reader } = one
      const scoped = reader.scoped.bind(reader)
      reader.scoped = (...given) => {
        reads += 1
        return scoped(...given)
      }
      return one
    }
    const found = await Promise.all(Array.from({ length: 20 }, () => vectors.nearest(counting(), assistantId, items, vector)))
    expect(reads).toBe(1)
    expect(found).toEqual(Array(20).fill(found[0]))
    expect(found[0]).toHaveLength(2)
  })
})
