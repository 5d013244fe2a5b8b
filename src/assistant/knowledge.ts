import { raw } from "@mikro-orm/postgresql"
import { Assistant } from "../entities/assistant.js"
import { Company } from "../entities/company.js"
import { BadUserInput } from "../errors.js"
import { type KnowledgeMatch, searchChunks } from "../knowledge/search.js"
import type { Viewer } from "../schema/kit/viewer.js"

/** Searches what an assistant knows, for one embedding credit of its company; it is given back when the search fails. */
export async function searchKnowledge(viewer: Viewer, assistantId: string, query: string, take: number): Promise<KnowledgeMatch[]> {
  const { embedding, stopping } = viewer.services
  const companyId = await spendCredit(viewer, assistantId)
  try {
    const [vector] = await embedding.embed([query], stopping)
    return await searchChunks(viewer, assistantId, query, vector!, take)
  } catch (error) {
    await addCredits(viewer, companyId, 1)
    throw error
  }
}

/** Takes a credit before anything is done for it: of two searches for the last one, one is refused. */
async function spendCredit(viewer: Viewer, assistantId: string): Promise<string> {
  return viewer.change(async (within) => {
    const { companyId } = await within.referred(Assistant, assistantId, "assistantId")
    if (!(await addCredits(within, companyId, -1))) throw new BadUserInput("The company has no embedding credits left")
    return companyId
  })
}

/** Answers false when there would be less than none. */
async function addCredits(viewer: Viewer, companyId: string, credits: number): Promise<boolean> {
  return viewer.change(async ({ em }) => {
    const embeddingCredits = raw("embedding_credits + ?", [credits])
    return (await em.nativeUpdate(Company, { id: companyId, embeddingCredits: { $gte: -credits } }, { embeddingCredits })) > 0
  })
}
