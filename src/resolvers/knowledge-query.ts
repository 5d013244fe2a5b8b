import { Arg, Ctx, Mutation, Resolver } from "type-graphql"
import { searchKnowledge } from "../assistant/knowledge.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { entityLimits } from "../entities/limits.js"
import { BadUserInput } from "../errors/errors.js"
import { KnowledgeMatches, QueryKnowledgeInput } from "../schema/knowledge.js"
import { schemaLimits } from "../schema/limits.js"

@Resolver()
export class KnowledgeQueryResolver {
  @Access("company", { transaction: "manual" })
  @Mutation(() => KnowledgeMatches, {
    description: "Searches the indexed knowledge items of an assistant. A search costs one embedding credit.",
  })
  async queryKnowledge(
    @Ctx() context: RequestContext,
    @Arg("input", () => QueryKnowledgeInput) { assistantId, query, take }: QueryKnowledgeInput,
  ) {
    const most = take ?? entityLimits.knowledgeQueryTakeDefault
    if (most < 1 || most > schemaLimits.knowledgeQueryTakeMax)
      throw new BadUserInput(`take must be 1 to ${schemaLimits.knowledgeQueryTakeMax}`, [
        { path: "take", message: `must be 1 to ${schemaLimits.knowledgeQueryTakeMax}` },
      ])
    return { data: (await searchKnowledge(context, assistantId, query, most)).matches }
  }
}
