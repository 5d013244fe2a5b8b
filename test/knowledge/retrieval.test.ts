import { readdirSync, readFileSync } from "node:fs"
import { systemContext } from "../../src/context/request-context.js"
import { askedWords } from "../../src/knowledge/full-text.js"
import { byMeaning } from "../../src/knowledge/search.js"
import { byWords } from "../../src/knowledge/search-words.js"
import { indexAll } from "../kit/knowledge.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w

const folder = "test/fixtures/retrieval/"
const fixture = (name: string) => readFileSync(folder + name, "utf8")

/** Questions, and for each some words that occur once in the handbook and that the found chunks have to contain. */
type Question = { ask: string; answer: string }
/** The second set was written after the search was finished, to detect overfitting to the first. */
const sets: [name: string, Question[]][] = ["questions", "unseen"].map((name) => [name, JSON.parse(fixture(`${name}.json`))])

describe("retrieval over a handbook, with the built-in embedding", () => {
  let texts: Map<string, string>
  beforeAll(async () => {
    // One after the other: chunks with equal scores are ordered by their ids.
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".md"))) {
      await acme.makeKnowledge({ name, resourceContent: fixture(name), isVector: true })
      await indexAll(w)
    }
    texts = new Map((await sql("select id, content from knowledge_chunk")).map(({ id, content }) => [id, content]))
  })

  const words = (ask: string) => byWords(systemContext(w.services, acme.id).reader, acme.assistant.id, askedWords(ask))
  const meaning = async (ask: string) => {
    const [vector] = await w.services.embedding.embed([ask], w.services.stopping)
    return (await byMeaning(systemContext(w.services, acme.id), acme.assistant.id, vector!)).map(({ id }) => id)
  }
  const hybrid = async (query: string): Promise<string[]> => {
    const body = { assistantId: acme.assistant.id, query, take: 5 }
    const answer = await rest.as(acme.token).post("/api/assistant-knowledge-new/query", body).expect(201)
    return answer.body.data.map(({ chunkId }: { chunkId: string }) => chunkId)
  }

  it.each(sets)(
    "%s: what answers is among the first five nine times of ten, and more often than by words or by meaning alone",
    async (name, questions) => {
      const missed: string[] = []
      const recall = async (find: (ask: string) => Promise<string[]>) => {
        let found = 0
        for (const { ask, answer } of questions) {
          const ids = (await find(ask)).slice(0, 5)
          if (ids.some((id) => texts.get(id)!.includes(answer))) found += 1
          else if (find === hybrid) missed.push(ask)
        }
        return found / questions.length
      }
      const recalls = { words: await recall(words), meaning: await recall(meaning), hybrid: await recall(hybrid) }
      process.stdout.write(
        `recall@5, ${name}, ${texts.size} chunks: ${JSON.stringify(recalls)}\n${missed.map((ask) => `  missed: ${ask}\n`).join("")}`,
      )
      expect(recalls.hybrid).toBeGreaterThanOrEqual(0.9)
      expect(recalls.hybrid).toBeGreaterThanOrEqual(Math.max(recalls.words, recalls.meaning))
    },
  )

  it("has no question that is in the handbook, and only expectations that occur there once", () => {
    const handbook = readdirSync(folder)
      .filter((file) => file.endsWith(".md"))
      .map(fixture)
      .join("\n")
    for (const { ask, answer } of sets.flatMap(([, questions]) => questions)) {
      expect(handbook).not.toContain(ask.replace(/[?!.]$/, ""))
      expect({ answer, times: handbook.split(answer).length - 1 }).toEqual({ answer, times: 1 })
    }
    expect(sets.map(([, questions]) => questions.length)).toEqual([100, 40])
  })
})
