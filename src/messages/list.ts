import type { RequestContext } from "../context/request-context.js"
import { nodesOf } from "../context/selection.js"
import type { PlannedRow, Selection } from "../database/read-model.js"
import type { FilterTemplate } from "../database/reader.js"
import { BadUserInput, Forbidden } from "../errors/errors.js"
import { chatReadModel } from "../schema/chat.js"
import { type Connection, connection, pageOffset, pageSize } from "../schema/kit/page.js"
import { cursorValues } from "../schema/kit/paging.js"
import { schemaLimits } from "../schema/limits.js"
import { forVisitor, messageReadModel } from "../schema/message.js"

/** The chat and the page of a list of messages. */
export interface MessagePage {
  chatId: string
  first?: number | null
  after?: string | null
  skip?: number | null
}

/** Reads a page of a chat's messages, newest first; a visitor gets only what visitors may see. */
export async function listMessages(
  context: RequestContext,
  selection: Selection,
  page: MessagePage,
): Promise<Connection<PlannedRow<"Message">>> {
  const { chatId } = page
  const walk = walkOf(page)
  // A malformed cursor is refused before a chat out of reach.
  cursorValues(walk)
  const { identity } = context
  if (identity.kind === "visitor" && identity.chatId !== chatId) throw noAccess()
  const chatExists = context.reader.byId(chatReadModel, chatId, {}).then((chat) => {
    if (!chat) throw noAccess()
  })
  if (identity.kind !== "visitor") {
    const [found] = await Promise.all([connection(context.reader, messageReadModel, selection, walk, ofChat(chatId)), chatExists])
    return found
  }
  const { chat: _chat, author: _author, ...visible } = nodesOf(selection)
  const allowed = { ...selection, nodes: visible, edges: {} }
  const [found] = await Promise.all([connection(context.reader, messageReadModel, allowed, walk, ofChatForVisitors(chatId)), chatExists])
  return {
    ...found,
    nodes: found.nodes.map(forVisitor),
    edges: found.edges?.map(({ cursor, node }) => ({ cursor, node: forVisitor(node) })),
  }
}

/** The order and the limits of a page of messages. */
export function walkOf({ chatId, first, after, skip }: MessagePage) {
  if (after && skip != null)
    throw new BadUserInput("cursor cannot be combined with skip", [{ path: "cursor", message: "cannot be combined with skip" }])
  return {
    list: `messages ${chatId}`,
    keys: [{ property: "sequence", column: "sequence", type: "integer" as const }],
    descending: true,
    size: pageSize(first, schemaLimits.messagePageDefault),
    after,
    skip: skip == null ? null : pageOffset(skip),
  }
}

const ofChat = (chatId: string): FilterTemplate<"Message", [string]> => ({
  key: "of a chat",
  values: [chatId],
  build: (query, [id]) => query.where("t.chat_id", "=", id),
})

const ofChatForVisitors = (chatId: string): FilterTemplate<"Message", [string]> => ({
  key: "of a chat, for visitors",
  values: [chatId],
  build: (query, values) =>
    ofChat(chatId)
      .build(query, values)
      .where("t.role", "in", ["Customer", "User", "Assistant"])
      .where("t.type", "not in", ["FunctionCall", "FunctionCallOutput"]),
})

const noAccess = () => new Forbidden("You have no access to this chat")
