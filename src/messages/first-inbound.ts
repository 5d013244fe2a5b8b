import type { MikroORM } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { columnsOf, type PlainRow, type PlannedRow, plannedProperties } from "../database/read-model.js"
import { readerOfNewRows } from "../database/reader.js"
import { storedSnapshot } from "../database/snapshot.js"
import type { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import { oncePer } from "../once-per.js"
import { chatReadModel } from "../schema/chat.js"
import { type AppendParts, appendSql, appendValues } from "./append.js"
import { type Draft, dueReply, type Inbound, repliesTo } from "./inbound.js"

/** The connection of a new chat, with its assistant, as both were read. */
export interface ReadConnection {
  id: string
  assistant: Assistant | null
}

/**
 * Stores a new chat with the customer's first message by one statement, which is its own transaction. Null, and nothing is written, when the
 * connection or its assistant has changed since they were read, or when the customer has a chat by now. A test compares what it stores with
 * what a transaction and `appendInbound()` store.
 */
export async function openInboundAtOnce(
  context: RequestContext,
  chat: Chat,
  draft: Omit<Draft, "chatId">,
  timing: ReplyTiming,
  { id, assistant }: ReadConnection,
): Promise<PlainRow | null> {
  const { database } = context.services
  const now = clock.now()
  chat.expectReply(now, timing)
  // The columns that the message changes, as the statement stores them.
  Object.assign(chat, { createdAt: now, updatedAt: now, lastMessageAt: now, unreadCount: 1 })
  const { messenger, fromId, externalId, name, assistantId, isUnderAiControl, replyFirstAt, turn } = chat
  const [stored] = await context.statement(statementOf(database.orm), [
    ...appendValues({ ...draft, chatId: chat.id, role: "Customer" }, context.companyIds, now),
    JSON.stringify(await snapshotOf(context, chat)),
    ...[id, assistant?.id, assistant?.isDraft, assistant?.voiceAgentStatus],
    ...[messenger, fromId, externalId, name, assistantId, isUnderAiControl, replyFirstAt, turn.dueAt],
  ])
  return stored?.message ?? null
}

/** The payload of the event CHAT_CREATED. */
async function snapshotOf({ services }: RequestContext, chat: Chat) {
  const selection = services.snapshotOf("Chat")
  const properties = plannedProperties(chatReadModel, columnsOf(services.database.orm, "Chat"), selection)
  const row = Object.fromEntries(properties.map((property) => [property, chat[property as keyof Chat]])) as PlannedRow<"Chat">
  const [shown] = await readerOfNewRows(services.database).complete(chatReadModel, [row], selection)
  return storedSnapshot("Chat", shown!)
}

const statementOf = oncePer(
  (orm: MikroORM): Inbound => ({ name: "open-inbound", text: appendSql(orm, { opens, result: dueReply }), jobs: repliesTo }),
)

/** Inserts a chat with the columns of `Chat` that are not the same in every new chat; the others have their defaults. */
const opens: AppendParts["opens"] = {
  // The lock keeps the assistant as it was read until the commit.
  chat: `kept as (
      select id from assistant
      where id = $22::uuid and company_id = any($6::uuid[]) and is_draft = $23 and voice_agent_status = $24 for share
    ), numbered as (
      insert into chat (id, created_at, updated_at, last_message_at, last_message_id, last_sequence, unread_count,
        company_id, messenger, from_id, external_id, name, assistant_id, is_under_ai_control, reply_first_at, reply_due_at)
      select $3, $1, $1, $1, $2, 1, $5, c.company_id, c.messenger, c.external_id, $27, $28, $29::uuid, $30::boolean, $31::timestamptz, $32::timestamptz
      from channel c
      where c.id = $21::uuid and c.is_active and c.company_id = any($6::uuid[]) and c.messenger = $25 and c.external_id = $26
        and case when $22::uuid is null then c.assistant_id is null else c.assistant_id = (select id from kept) end
      on conflict (company_id, messenger, from_id, external_id) do nothing`,
  // Before the message's event, which selects from it.
  event: `, opened as (
      insert into event (company_id, chat_id, type, payload, created_at)
      select company_id, id, 'CHAT_CREATED', $20::jsonb, $1 from numbered returning id
    )`,
}
