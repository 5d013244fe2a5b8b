import { LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { chatLimits } from "../chats/limits.js"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { assistantLimits } from "./limits.js"

/**
 * The same as `Chat.setAssistant(null)` and `Chat.turnAiOff("manual")`, for many chats at once: those without a
 * running turn and without queued answers, for which nothing else changes. Chats that are locked are skipped.
 */
const detachIdleChats = {
  name: "free-quiet-chats",
  text: `
    with batch as (
      select id, is_under_ai_control or ai_disable_reason is distinct from 'manual' as is_news from chat
      where assistant_id = $1 and company_id = any($2::uuid[]) and turn_id is null
        and not exists (select 1 from message m where m.chat_id = chat.id and m.role = 'Assistant' and m.status = 'queued')
      limit $3 for no key update skip locked
    ), freed as (
      update chat set assistant_id = null, is_under_ai_control = false, ai_disable_reason = 'manual', updated_at = $4::timestamptz,
        quiet_since = null, reply_first_at = null, reply_due_at = null, turn_failures = 0, turn_rounds = 0, turn_is_final = false
      from batch where chat.id = batch.id returning chat.id, chat.company_id, batch.is_news
    ), noted as (
      insert into control_change (id, company_id, chat_id, is_under_ai_control, ai_disable_reason, hand_off_reason, actor_kind, actor_id, created_at)
      select ($5::uuid[])[(row_number() over ())::integer], company_id, id, false, 'manual', 'removed', $6::text, $7::uuid, $4 from freed where is_news
    ), told as (
      insert into event (company_id, chat_id, type, payload, created_at)
      select company_id, id, 'CHAT_MODE_CHANGED', jsonb_build_object('value',
        jsonb_build_object('chatId', id, 'isUnderAiControl', false, 'aiDisableReason', 'manual')), $4 from freed where is_news
    )
    select id from freed`,
}

/** Removes an assistant that is being deleted from all its chats and turns their AI off, in small transactions that hold no chat for long. */
export async function freeChats(context: RequestContext, assistantId: string): Promise<void> {
  const { kind, id } = context.actor
  for (;;) {
    const ids = Array.from({ length: chatLimits.detachBatch }, () => v7())
    const freed = await context.statement(detachIdleChats, [assistantId, context.companyIds, ids.length, clock.now(), ids, kind, id])
    if (freed.length < ids.length) break
  }
  while (await freeBusyChats(context, assistantId));
}

/** Does the same for chats with a running turn, queued answers or a lock, one chat at a time; returns whether there may be more. */
function freeBusyChats(context: RequestContext, assistantId: string): Promise<boolean> {
  return context.transaction(async (tx) => {
    const chats = await tx.em.find(
      Chat,
      { assistantId },
      { orderBy: { id: "asc" }, limit: assistantLimits.busyChatBatch, lockMode: LockMode.PESSIMISTIC_WRITE },
    )
    for (const chat of chats) {
      chat.setAssistant(null)
      chat.turnAiOff("manual", tx.actor, "removed")
    }
    // Chats may lose the assistant while their lock is awaited: only an empty batch is the end.
    return chats.length > 0 || (await tx.em.count(Chat, { assistantId })) > 0
  })
}

/**
 * Locks the calls of an assistant in the order of their IDs, before the deletion takes it out of them: each of two deletions, or a deletion and a
 * report of a call, could otherwise wait for the other, because a call may refer to two assistants, and a transaction that changes a call twice
 * locks its assistant.
 */
const lockCalls = {
  name: "lock-calls-of-assistant",
  text: `
    with theirs as (
      select id from call where (assistant_id = $1 or caller_assistant_id = $1) and company_id = any($2::uuid[]) order by id for no key update
    )
    select count(*) from theirs`,
}

/** Removes an assistant that is being deleted, with its tools and its knowledge; its chats are kept. A missing assistant is not an error. */
export async function removeAssistant(context: RequestContext, assistantId: string): Promise<void> {
  await freeChats(context, assistantId)
  await context.transaction(async (tx) => {
    await tx.run(lockCalls, [assistantId, tx.companyIds])
    const assistant = await tx.em.findOne(Assistant, { id: assistantId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (assistant) tx.em.remove(assistant)
  })
}
