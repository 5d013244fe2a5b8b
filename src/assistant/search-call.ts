import type { RequestContext } from "../context/request-context.js"
import type { AssistantTool } from "../entities/assistant-tool.js"
import { entityLimits } from "../entities/limits.js"
import type { ToolCall, ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput } from "../errors.js"
import type { KnowledgeMatch } from "../knowledge/search.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import { searchKnowledge } from "./knowledge.js"
import { assistantLimits } from "./limits.js"

/** A search that the assistant makes in its knowledge, for one credit; that there is none left, or no embedding, is an outcome. */
export async function searchFor(context: RequestContext, tool: AssistantTool, call: ToolCall): Promise<ToolOutcome> {
  const begin = performance.now()
  const latencyMs = () => Math.round(performance.now() - begin)
  const query = (call.params as { query: string }).query.slice(0, entityLimits.knowledgeQuery)
  try {
    const found = await searchKnowledge(context, tool.assistantId, query, entityLimits.knowledgeQueryTakeDefault)
    return { success: true, status: null, latencyMs: latencyMs(), body: { data: fitting(found) }, error: null }
  } catch (error) {
    if (!(error instanceof BadUserInput || error instanceof EmbeddingFailure)) throw error
    return { success: false, status: null, latencyMs: latencyMs(), body: null, error: error.message }
  }
}

/** As many of the best as a model may be shown of a result, whole. */
function fitting(found: KnowledgeMatch[]): KnowledgeMatch[] {
  let room = assistantLimits.toolResponseShownBytes - Buffer.byteLength('{"data":[]}')
  return found.filter((match) => {
    room -= Buffer.byteLength(JSON.stringify(match)) + 1
    return room >= 0
  })
}
