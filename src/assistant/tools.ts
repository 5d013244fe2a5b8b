import type { UnitOfWork } from "../database/unit-of-work.js"
import type { Assistant } from "../entities/assistant.js"
import { AssistantTool, type AssistantToolType } from "../entities/assistant-tool.js"
import { ChatTag, folded } from "../entities/chat-tag.js"
import { searchKnowledge, setChatTags, turnOffAiMode } from "../entities/kit/system-tools.js"
import { Knowledge } from "../entities/knowledge.js"
import type { ModelTool } from "../ports/text-model.js"
import { assistantLimits } from "./limits.js"

/** A tool of an assistant: what identifies it, and its definition for the model. */
export interface OfferedTool {
  id: string
  type: AssistantToolType
  isSystem: boolean
  declaration: ModelTool
}

/** The output of the hand-off tool in its frame. */
export const handedOver = { success: true, message: "A human colleague takes over from here." }

/** The tools that an assistant may use in a chat, the built-in ones first. */
export async function toolsOf(unit: UnitOfWork, assistant: Assistant): Promise<OfferedTool[]> {
  const switchedOn = { assistantId: assistant.id, disabled: false, type: { $in: ["webhook_action", "webhook_client", "mcp"] as const } }
  const order = { isSystem: "desc", createdAt: "asc", id: "asc" } as const
  const rows = await unit.em.find(AssistantTool, switchedOn, { orderBy: order, limit: assistantLimits.offeredTools })
  const offered: OfferedTool[] = []
  for (const row of rows) {
    const parameters = row.isSystem ? await systemParameters(unit, assistant, row) : row.params
    if (parameters)
      offered.push({
        id: row.id,
        type: row.type,
        isSystem: row.isSystem,
        declaration: { name: row.name, description: row.description, parameters },
      })
  }
  return offered
}

/** The parameters of a built-in tool; null when the tool has no use in this chat. */
async function systemParameters(unit: UnitOfWork, assistant: Assistant, row: AssistantTool): Promise<Record<string, unknown> | null> {
  if (row.name === turnOffAiMode.name) return row.params
  if (row.name === searchKnowledge.name) return (await isSearchable(unit, assistant)) ? row.params : null
  if (row.name !== setChatTags.name) return null
  const names = await suggestibleTags(unit, assistant)
  if (names.length === 0) return null
  const tags = { type: "array", items: { type: "string", enum: names }, minItems: 1, description: "Names of the tags." }
  return { type: "object", properties: { tags }, required: ["tags"] }
}

/** Whether a search can find anything; otherwise it would cost a credit and a round for nothing. */
const isSearchable = async (unit: UnitOfWork, { id: assistantId }: Assistant) =>
  (await unit.em.findOne(Knowledge, { assistantId, indexStatus: "indexed" }, { fields: ["id"] })) !== null

/** Names of the company's tags that the assistant may suggest. */
async function suggestibleTags(unit: UnitOfWork, { companyId, excludedTags }: Assistant): Promise<string[]> {
  const tags = await unit.em.find(ChatTag, { companyId }, { orderBy: { name: "asc" }, limit: assistantLimits.suggestedTags })
  const excluded = new Set(excludedTags.map(folded))
  return tags.map(({ name }) => name).filter((name) => !excluded.has(folded(name)))
}
