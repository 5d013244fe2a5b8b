import type { RequestContext } from "../context/request-context.js"
import { nodesOf } from "../context/selection.js"
import type { Selection } from "../database/read-model.js"
import { newestOf } from "../schema/kit/newest-of.js"
import { connectionOfRows, pageSize } from "../schema/kit/page.js"
import { schemaLimits } from "../schema/limits.js"
import { messageReadModel } from "../schema/message.js"
import { listMessages, walkOf } from "./list.js"

const newestMessages = newestOf({
  target: () => messageReadModel,
  table: "message",
  owner: { table: "chat", column: "chat_id", property: "chatId" },
  newestFirst: ["sequence"],
})

/**
 * Reads a page of the messages of a chat that a query shows, newest first. The first pages of all its chats are one statement; a cursor belongs
 * to one chat, so a later page is read as the root field reads it.
 */
export async function messagesOfChat(
  context: RequestContext,
  selection: Selection,
  chatId: string,
  page: { first?: number | null; after?: string | null },
) {
  if (page.after) return listMessages(context, selection, { chatId, ...page })
  const { reader } = context
  const walk = walkOf({ chatId, first: pageSize(page.first, schemaLimits.messagePageDefault) })
  const [rows, totalCount] = await Promise.all([
    newestMessages.rows(reader, chatId, walk.size + 1, { ...nodesOf(selection), sequence: {} }),
    selection["totalCount"] ? newestMessages.count(reader, chatId) : undefined,
  ])
  return connectionOfRows(walk, rows, selection, totalCount)
}
