import type { MikroORM } from "@mikro-orm/postgresql"
import { returnToAiIfDue } from "../chats/ai-return.js"
import type { RequestContext } from "../context/request-context.js"
import type { PlainRow, PlannedRow } from "../database/read-model.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { replyJob } from "../entities/kit/chat-jobs.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import type { ScheduledJob } from "../entities/kit/row.js"
import { Conflict } from "../errors/errors.js"
import { oncePer } from "../once-per.js"
import { append, appendSql, appendValues, type MessageDraft } from "./append.js"

/** A customer's message. */
export type Draft = Omit<MessageDraft, "role">

/** Appends a customer message and schedules the reply to it, in one transaction. The chat must be locked. */
export async function appendInbound(
  unit: UnitOfWork,
  chat: Chat,
  draft: Omit<Draft, "chatId">,
  timing: ReplyTiming,
): Promise<PlannedRow<"Message">> {
  const now = clock.now()
  // AI may be due to be turned on again before the sweep has run; this message must be answered then.
  await returnToAiIfDue(unit, chat, now, timing)
  chat.expectReply(now, timing)
  // Flushed before the statement, which must find the chat even when it is new.
  await unit.flush()
  return append(unit, { ...draft, chatId: chat.id, role: "Customer" })
}

/**
 * Appends a customer message by one statement, which is its own transaction, in a chat where that has no other effects. Null, and nothing is
 * written, in any other case: a missing chat, a repeated message, a running turn that starts over, a chat that may return to AI. They are
 * left to `appendInbound()`.
 */
export async function appendInboundAtOnce(context: RequestContext, draft: Draft, timing: ReplyTiming): Promise<PlainRow | null> {
  const [row] = await tryInbound(context, statementOf(context.services.database.orm), draft, timing)
  return row?.message ?? null
}

/** Runs such a statement; no row, and nothing is written, when the same message is stored at the same time. */
export async function tryInbound<R>(
  context: RequestContext,
  statement: Statement<R>,
  draft: Omit<Draft, "chatId"> & { chatId: string | null },
  timing: ReplyTiming,
  more: unknown[] = [],
): Promise<R[]> {
  const values = appendValues({ ...draft, role: "Customer" }, context.companyIds, clock.now())
  return context.statement(statement, [...values, timing.replyDebounceMs, timing.replyMaxWaitMs, ...more]).catch((error) => {
    // The same message was stored between the look and the insert.
    if (error instanceof Conflict) return []
    throw error
  })
}

/** A statement that stores a customer's message and returns it with the due time of its reply. */
export type Inbound = Statement<{ message: PlannedRow<"Message">; due_ms: number | null }>

/** The reply to schedule after such a statement. */
export const repliesTo = ({ message, due_ms: due }: { message: PlannedRow<"Message">; due_ms: number | null }): ScheduledJob[] =>
  due !== null ? [{ job: replyJob, companyId: message.companyId!, id: message.chatId!, at: new Date(due) }] : []

/** `Chat.isAnsweredByAi` in SQL. */
export const isAnswered = "(chat.is_under_ai_control and chat.assistant_id is not null and chat.chat_type <> 'group')"

/** When the reply to the message is due, in milliseconds since the epoch; null without a reply. */
export const dueReply = { name: "due_ms", sql: `case when ${isAnswered} then (extract(epoch from reply_due_at) * 1000)::float8 end` }

/** `Chat.expectReply()` in SQL, where it restarts no turn; a test compares both in all states of a chat. */
export const inboundParts = {
  set: `,
        reply_first_at = case when ${isAnswered} then coalesce(reply_first_at, $1) else reply_first_at end,
        reply_due_at = case when ${isAnswered} then greatest($1,
            least($1 + $20::float8 * interval '1 millisecond', coalesce(reply_first_at, $1) + $21::float8 * interval '1 millisecond'),
            case when turn_failures > 0 then reply_due_at end)
          else reply_due_at end`,
  where: ` and quiet_since is null and (turn_id is null or turn_is_final or not ${isAnswered})
        and not exists (select from message repeated where repeated.chat_id = chat.id and repeated.external_id = $11)`,
  result: dueReply,
}

const statementOf = oncePer((orm: MikroORM): Inbound => ({ name: "append-inbound", text: appendSql(orm, inboundParts), jobs: repliesTo }))
