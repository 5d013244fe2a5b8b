import { Arg, Ctx, Mutation, Resolver } from "type-graphql"
import { searchKnowledge } from "../assistant/knowledge.js"
import type { Viewer } from "../context/request-context.js"
import { BadUserInput } from "../errors.js"
import { Access } from "../graphql/access.js"
import { limits } from "../limits.js"
import { KnowledgeMatches, QueryKnowledgeInput } from "../schema/knowledge.js"

@Resolver()
export class KnowledgeQueryResolver {
  @Access("company", { steps: true })
  @Mutation(() => KnowledgeMatches, { description: "Searches what an assistant knows; only what is indexed, for one embedding credit." })
  async queryKnowledge(@Ctx() viewer: Viewer, @Arg("input", () => QueryKnowledgeInput) { assistantId, query, take }: QueryKnowledgeInput) {
    const most = take ?? limits.knowledgeQueryTakeDefault
    if (most < 1 || most > limits.knowledgeQueryTakeMax)
      throw new BadUserInput(`take must be 1 to ${limits.knowledgeQueryTakeMax}`, [
        { path: "take", message: `must be 1 to ${limits.knowledgeQueryTakeMax}` },
      ])
    return { data: await searchKnowledge(viewer, assistantId, query, most) }
  }
}
