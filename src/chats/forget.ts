import { inBatches } from "../context/batches.js"
import type { RequestContext } from "../context/request-context.js"
import { awaitFanOut } from "../event-webhooks/fan-out.js"
import { chatLimits } from "./limits.js"

const forgetBatch = {
  name: "forget-events-of-chat",
  text: `
    delete from event where id in (
      select id from event where chat_id = $1 and company_id = any($2::uuid[]) and position is not null and type <> 'CHAT_DELETED' limit $3
    ) returning 1`,
}

/** Events that a crash left of chats that were deleted: `$1` the companies, null for all; `$2` how many. */
export const forgetRest = {
  name: "forget-events-of-deleted-chats",
  text: `
    delete from event where id in (
      select rest.id from event deleted join event rest on rest.chat_id = deleted.chat_id
      where deleted.type = 'CHAT_DELETED' and rest.type <> 'CHAT_DELETED' and rest.position is not null
        and ($1::uuid[] is null or rest.company_id = any($1)) limit $2
    ) returning 1`,
}

/** What a delivery loses with its chat or its call: the payload, the responses, and the attempts that would follow. */
export const erasedDelivery = `snapshot = null, status = case when status = 'pending' then 'cancelled' else status end, due_at = null, retry_at = null,
    requested_at = null, attempts = (select coalesce(jsonb_agg(jsonb_set(attempt, '{responseBody}', 'null')), '[]') from jsonb_array_elements(attempts) attempt)`

const forgetDeliveries = {
  name: "forget-event-deliveries-of-chat",
  text: `
    update event_delivery set ${erasedDelivery} where id in (
      select id from event_delivery where chat_id = $1 and company_id = any($2::uuid[]) and snapshot is not null and type <> 'CHAT_DELETED' limit $3
    ) returning 1`,
}

/** Deliveries that a crash left of chats that were deleted, with the parameters of `forgetRest`. */
export const forgetRestOfDeliveries = {
  name: "forget-event-deliveries-of-deleted-chats",
  text: `
    update event_delivery set ${erasedDelivery} where id in (
      select rest.id from event deleted join event_delivery rest on rest.chat_id = deleted.chat_id and rest.snapshot is not null
      where deleted.type = 'CHAT_DELETED' and rest.type <> 'CHAT_DELETED' and ($1::uuid[] is null or rest.company_id = any($1)) limit $2
    ) returning 1`,
}

/** Deletes the events that a crash left of chats that were deleted, and what deliveries hold of them. */
export async function forgetEventsOfDeletedChats(context: RequestContext): Promise<void> {
  await inBatches(context, forgetRest, [], chatLimits.forgetBatch)
  await inBatches(context, forgetRestOfDeliveries, [], chatLimits.forgetBatch)
}

/**
 * Deletes the events of a chat that was deleted, CHAT_DELETED excepted: after the commit, in short statements, and only those with a position,
 * because the sequencer, which serves all companies, locks the others; then what deliveries hold of them. The sweep of retention deletes
 * what a crash leaves.
 */
export async function forgetEvents(context: RequestContext, chatId: string): Promise<void> {
  await context.services.sequencer.poke()
  await inBatches(context, forgetBatch, [chatId], chatLimits.forgetBatch)
  // Deliveries of these events that are being made would be overlooked.
  await context.statement(awaitFanOut, [])
  await inBatches(context, forgetDeliveries, [chatId], chatLimits.forgetBatch)
}
