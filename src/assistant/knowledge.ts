import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { BadUserInput } from "../errors/errors.js"
import { type Found, searchChunks } from "../knowledge/search.js"

/** Searches an assistant's knowledge for one embedding credit of its company, which is returned when the search fails. */
export async function searchKnowledge(context: RequestContext, assistantId: string, query: string, take: number): Promise<Found> {
  const { embedding, stopping } = context.services
  const companyId = await spendCredit(context, assistantId)
  try {
    const [vector] = await embedding.embed([query], stopping)
    return await searchChunks(context, assistantId, query, vector!, take)
  } catch (error) {
    await context.transaction((tx) => tx.run(giveBack, [companyId, context.companyIds]))
    throw error
  }
}

const spend: Statement<{ id: string }> = {
  name: "spend-embedding-credit",
  text: `update company set embedding_credits = embedding_credits - 1 from assistant
         where assistant.id = $1 and assistant.company_id = any($2::uuid[]) and company.id = assistant.company_id and embedding_credits > 0
         returning company.id`,
}

const giveBack = {
  name: "give-embedding-credit-back",
  text: "update company set embedding_credits = embedding_credits + 1 where id = $1 and id = any($2::uuid[])",
}

/** Takes a credit before the search, so that of two searches for the last credit one is refused. Returns the company's id. */
async function spendCredit(context: RequestContext, assistantId: string): Promise<string> {
  return context.transaction(async (tx) => {
    const [spent] = await tx.run(spend, [assistantId, context.companyIds])
    if (spent) return spent.id
    await tx.referred(Assistant, assistantId, "assistantId")
    throw new BadUserInput("The company has no embedding credits left")
  })
}
