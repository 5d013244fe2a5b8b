import type { RequestContext } from "../context/request-context.js"
import type { AssistantTool } from "../entities/assistant-tool.js"
import { entityLimits } from "../entities/limits.js"
import type { ToolCall, ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput } from "../errors/errors.js"
import type { KnowledgeMatch } from "../knowledge/search.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import { searchKnowledge } from "./knowledge.js"
import { assistantLimits } from "./limits.js"

/** Runs the assistant's knowledge search for one credit; a missing credit or embedding service is an outcome of the call. */
export async function searchFor(context: RequestContext, tool: AssistantTool, call: ToolCall): Promise<ToolOutcome> {
  const begin = performance.now()
  const latencyMs = () => Math.round(performance.now() - begin)
  const query = (call.params as { query: string }).query.slice(0, entityLimits.knowledgeQuery)
  try {
    const { matches, isFound } = await searchKnowledge(context, tool.assistantId, query, entityLimits.knowledgeQueryTakeDefault)
    return { success: true, status: null, latencyMs: latencyMs(), body: { data: fitting(matches) }, error: null, found: isFound }
  } catch (error) {
    if (!(error instanceof BadUserInput || error instanceof EmbeddingFailure)) throw error
    return { success: false, status: null, latencyMs: latencyMs(), body: null, error: error.message }
  }
}

/** The best matches, whole, as many as fit into what a model may be shown. */
function fitting(matches: KnowledgeMatch[]): KnowledgeMatch[] {
  let room = assistantLimits.toolResponseShownBytes - Buffer.byteLength('{"data":[]}')
  return matches.filter((match) => {
    room -= Buffer.byteLength(JSON.stringify(match)) + 1
    return room >= 0
  })
}
