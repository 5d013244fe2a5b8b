import type { Services } from "../../src/context/services.js"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import type { World } from "./world.js"

// biome-ignore lint/suspicious/noExplicitAny: a knowledge item as REST shows it.
type Item = any

/** Indexes all due items, and waits until none is running. */
export async function indexAll({ services }: { services: Services }) {
  do {
    await indexKnowledge.sweep.run(services)
    await services.running.idle()
    // An item that changed during its indexing is due again.
  } while (!services.stopping.aborted && (await indexKnowledge.counts(services)).due > 0)
}

/** Requests about the knowledge of Acme. */
export function knowledgeOf(world: World) {
  const { acme, rest, sql } = world
  const path = "/api/assistant-knowledge-new"
  return {
    path,
    look: async (id: string): Promise<Item> => (await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body,
    change: async (id: string, body: object): Promise<Item> => (await rest.as(acme.token).patch(`${path}/${id}`, body).expect(200)).body,
    remove: (id: string) => rest.as(acme.token).delete(`${path}/${id}`).expect(200),
    /** The chunks of the current index, in order. */
    chunks: (id: string) =>
      sql(
        `select c.id, c.position, c.content, c.embedding_model as model, array_length(c.embedding, 1) as dimensions
         from knowledge_chunk c join knowledge k on k.id = c.knowledge_id and k.index_generation = c.generation
         where k.id = $1 and k.index_status = 'indexed' order by position`,
        [id],
      ),
    /** All stored chunks, of any generation. */
    kept: (id: string) =>
      sql("select content, generation from knowledge_chunk where knowledge_id = $1 order by generation, position", [id]),
  }
}

/** A number of paragraphs, each of which fills a chunk of 200 characters. */
export const paragraphs = (count: number, word = "Paragraph") =>
  Array.from({ length: count }, (_, index) => `${word} ${index} ${"says something of some length. ".repeat(5)}`.trim())
