import type { RequestContext } from "../context/request-context.js"
import { nodesOf } from "../context/selection.js"
import type { Selection } from "../database/read-model.js"
import { chatReadModel } from "../schema/chat.js"
import { newestOf } from "../schema/kit/newest-of.js"
import { connection, connectionOfRows } from "../schema/kit/page.js"
import { pagingOfChats } from "./paging.js"

const latestChats = newestOf({
  target: () => chatReadModel,
  table: "chat",
  owner: { table: "assistant", column: "assistant_id", property: "assistantId" },
  newestFirst: ["recency", "id"],
})

/**
 * Reads a page of the chats of an assistant that a query shows, most recent activity first. The first pages of all its assistants are one
 * statement; a cursor belongs to one assistant, so a later page is read as the root field reads it.
 */
export async function chatsOfAssistant(
  { reader }: RequestContext,
  selection: Selection,
  id: string,
  page: { first?: number | null | undefined; after?: string | null | undefined },
) {
  const walk = pagingOfChats(page)
  if (page.after) return connection(reader, chatReadModel, selection, walk, (query) => query.where("t.assistant_id", "=", id))
  const [rows, totalCount] = await Promise.all([
    latestChats.rows(reader, id, walk.size + 1, { ...nodesOf(selection), recency: {} }),
    selection["totalCount"] ? latestChats.count(reader, id) : undefined,
  ])
  return connectionOfRows(walk, rows, selection, totalCount)
}
