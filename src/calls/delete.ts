import { erasedDelivery } from "../chats/forget.js"
import { chatLimits } from "../chats/limits.js"
import { inBatches } from "../context/batches.js"
import type { RequestContext } from "../context/request-context.js"
import { Call } from "../entities/call.js"
import { clock } from "../entities/kit/clock.js"
import { Media } from "../entities/media.js"
import { ToolCall } from "../entities/tool-call.js"
import { awaitFanOut } from "../event-webhooks/fan-out.js"

const isOfCall = (payload: string) =>
  `$1 in (${payload} #>> '{call,id}', ${payload} #>> '{value,callId}', ${payload} #>> '{guardrailHit,callId}')`

const forgetAnswers = {
  name: "forget-answers-of-call",
  text: "delete from idempotency_key where operation = 'createCall' and payload #>> '{call,id}' = $1 and payload #>> '{call,companyId}' = any($2::text[])",
}

const forgetEvents = {
  name: "forget-events-of-call",
  text: `
    delete from event where id in (
      select id from event where company_id = any($2::uuid[]) and chat_id is null and position is not null and ${isOfCall("payload")} limit $3
    ) returning 1`,
}

const forgetDeliveries = {
  name: "forget-event-deliveries-of-call",
  text: `
    update event_delivery set ${erasedDelivery} where id in (
      select id from event_delivery where company_id = any($2::uuid[]) and chat_id is null and snapshot is not null and ${isOfCall("snapshot")}
      limit $3
    ) returning 1`,
}

/** What was deleted with a call. */
export interface DeletedCall {
  toolCalls: number
  recordings: number
}

/** Deletes a call with its recording, the bodies of its tool calls, its stored responses and its events; null when it is gone. */
export async function deleteCall(context: RequestContext, id: string): Promise<DeletedCall | null> {
  const deleted = await context.transaction(async (tx) => {
    const [call] = await tx.em.find(Call, { id })
    if (!call) return null
    const entries = await tx.em.find(ToolCall, { callId: id })
    for (const entry of entries) Object.assign(entry, { params: {}, response: null })
    const recording = call.recordingId ? await tx.em.findOne(Media, { id: call.recordingId }) : null
    if (recording) recording.forgetAt = clock.now()
    await tx.run(forgetAnswers, [id, tx.companyIds])
    await tx.unit.flush()
    tx.em.remove(call)
    return { toolCalls: entries.length, recordings: recording ? 1 : 0 }
  })
  await context.services.sequencer.poke()
  await inBatches(context, forgetEvents, [id], chatLimits.forgetBatch)
  // Deliveries of these events that are being made would be overlooked.
  await context.statement(awaitFanOut, [])
  await inBatches(context, forgetDeliveries, [id], chatLimits.forgetBatch)
  return deleted
}
