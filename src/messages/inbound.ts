import type { MikroORM } from "@mikro-orm/postgresql"
import { returnToAiIfDue } from "../chats/ai-return.js"
import type { RequestContext } from "../context/request-context.js"
import type { PlainRow, PlannedRow } from "../database/read-model.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { replyJob } from "../entities/chat-row.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import { Conflict } from "../errors.js"
import { oncePer } from "../once-per.js"
import { append, appendSql, appendValues, type MessageDraft } from "./append.js"

type Draft = Omit<MessageDraft, "role">

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

/** A visitor's message: it may only be appended to a chat of this connection, whose customer may still lack this name. */
export interface FromWidget {
  connectionId: string
  name: string | null
}

/**
 * Appends a customer message by one statement, which is its own transaction, in a chat where that has no other effects. Null, and nothing is
 * written, in any other case: a missing chat, a repeated message, a running turn that starts over, a chat that may return to AI. They are
 * left to `appendInbound()`.
 */
export async function appendInboundAtOnce(
  context: RequestContext,
  draft: Draft,
  timing: ReplyTiming,
  widget?: FromWidget,
): Promise<PlainRow | null> {
  const { inbound, fromWidget } = statementsOf(context.services.database.orm)
  const values = [
    ...appendValues({ ...draft, role: "Customer" }, context.companyIds, clock.now()),
    timing.replyDebounceMs,
    timing.replyMaxWaitMs,
  ]
  const appended = widget
    ? context.statement(fromWidget, [...values, widget.connectionId, widget.name])
    : context.statement(inbound, values)
  const [row] = await appended.catch((error) => {
    // The same message was stored between the look and the insert.
    if (error instanceof Conflict) return []
    throw error
  })
  return row?.message ?? null
}

/** A statement that appends a message to a chat whose reply may be due then. */
export type AppendToChat = Statement<{ message: PlannedRow<"Message">; due_ms: number | null }>

/** The job of a reply that is due. */
export const replyJobs: AppendToChat["jobs"] = ({ message: { companyId, chatId }, due_ms: due }) =>
  due === null ? [] : [{ job: replyJob, companyId: companyId!, id: chatId!, at: new Date(due) }]

const statementsOf = oncePer(
  (orm: MikroORM): Record<"inbound" | "fromWidget", AppendToChat> => ({
    inbound: { name: "append-inbound", text: appendSql(orm, parts), jobs: replyJobs },
    fromWidget: { name: "append-from-widget", text: appendSql(orm, { ...parts, where: parts.where + ofWidget }), jobs: replyJobs },
  }),
)

/** `Chat.isAnsweredByAi` in SQL. */
export const isAnswered = "(chat.is_under_ai_control and chat.assistant_id is not null and chat.chat_type <> 'group')"

/** `Chat.expectReply()` in SQL, where it restarts no turn; a test compares both in all states of a chat. */
const parts = {
  set: `,
        reply_first_at = case when ${isAnswered} then coalesce(reply_first_at, $1) else reply_first_at end,
        reply_due_at = case when ${isAnswered} then greatest($1,
            least($1 + $18::float8 * interval '1 millisecond', coalesce(reply_first_at, $1) + $19::float8 * interval '1 millisecond'),
            case when turn_failures > 0 then reply_due_at end)
          else reply_due_at end`,
  where: ` and quiet_since is null and (turn_id is null or turn_is_final or not ${isAnswered})
        and not exists (select from message repeated where repeated.chat_id = $3 and repeated.external_id = $11)`,
  result: { name: "due_ms", sql: `case when ${isAnswered} then (extract(epoch from reply_due_at) * 1000)::float8 end` },
}

/** Limits the statement to chats of an active connection of the widget. */
const ofWidget = ` and messenger = 'widget' and (name is not null or $21::text is null)
        and exists (select from channel c where c.id = $20::uuid and c.is_active and c.messenger = chat.messenger
          and c.company_id = chat.company_id and c.external_id = chat.from_id)`
