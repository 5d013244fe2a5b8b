import type { RequestContext } from "../context/request-context.js"
import type { Selection } from "../database/read-model.js"
import type { EntityName } from "../database/tables.js"
import { assistantToolReadModel } from "../schema/assistant-tool.js"
import { type NewestList, newestOf } from "../schema/kit/newest-of.js"
import { knowledgeReadModel } from "../schema/knowledge.js"

/** Declares a list of each assistant, newest first. */
function ofAssistants<T extends EntityName>(target: NewestList<T>["target"], table: string) {
  const owner = { table: "assistant", column: "assistant_id", property: "assistantId" }
  const list = newestOf({ target, table, owner, newestFirst: ["created_at", "id"] })
  return async ({ reader }: RequestContext, selection: Selection, id: string, size: number) => {
    const [nodes, totalCount] = await Promise.all([
      list.rows(reader, id, size, selection["nodes"] ?? {}),
      selection["totalCount"] ? list.count(reader, id) : undefined,
    ])
    return { nodes, totalCount }
  }
}

/** Reads the newest tools of an assistant; all assistants of a query share one statement. */
export const toolsOf = ofAssistants(() => assistantToolReadModel, "assistant_tool")

const itemsOf = ofAssistants(() => knowledgeReadModel, "knowledge")

/** Reads the newest knowledge items of an assistant, without their texts, as lists show them. */
export function knowledgeItemsOf(context: RequestContext, selection: Selection, id: string, size: number) {
  const { resourceContent: _unlisted, ...nodes } = selection["nodes"] ?? {}
  return itemsOf(context, { ...selection, nodes }, id, size)
}
