import { LockMode } from "@mikro-orm/postgresql"
import { LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { clock } from "../entities/kit/clock.js"
import { storableJson } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"
import type { RequestResult } from "./request.js"

/** An attempt to deliver an event: of which endpoint, by which run, and why it was made. */
export interface Attempted {
  webhookId: string
  runId: string
  deliveryId: string
  /** The request of a person or a client that it served; null without one. */
  requestedAt: Date | null
  /** Whether the schedule had it. */
  isScheduled: boolean
}

/** How a delivery stands after an attempt. */
export type AttemptOutcome = "succeeded" | "retried" | "failed"

interface Recorded {
  failing_since_ms: number | null
  disabled: boolean
  is_due: boolean | null
}

/** The next attempt of the schedule: `$5` now, `$6` success, `$7` whether the schedule had this one, `$10` its pauses in milliseconds. */
const retryAt = `case when $6::boolean then null when $7::boolean then $5::timestamptz + ($10::float8[])[d.failures + 1] * interval '1 millisecond' else d.retry_at end`

/** The request of a further attempt: one that came during this attempt is not served by it; `$9` is the request that it served. */
const requestedAt = "case when not $6 and d.requested_at is distinct from $9::timestamptz then d.requested_at end"

/**
 * Adds an attempt to the log of its delivery, which keeps the newest, and says when the next one follows. One statement, because an endpoint
 * that is away for days costs one for each event of that time. Without a row, the run no longer holds the endpoint. A delivery whose chat was
 * deleted during the attempt keeps nothing of it. No row is locked before it is changed: of several such statements, two could each wait for
 * the other.
 */
const record: Statement<Recorded> = {
  name: "record-event-attempt",
  text: `
    with served as (
      update event_webhook set failures_in_row = case when $6 then 0 else failures_in_row + 1 end,
        failing_since = case when $6 then null else coalesce(failing_since, $5) end
      where id = $1 and company_id = any($2::uuid[]) and sending_id = $3
      returning id, company_id, (extract(epoch from failing_since) * 1000)::float8 as failing_since_ms, disabled
    ), recorded as (
      update event_delivery d set retry_at = ${retryAt}, requested_at = ${requestedAt}, due_at = coalesce(${requestedAt}, ${retryAt}),
        status = case when $6 then 'succeeded' when $7 and d.failures >= cardinality($10::float8[]) then 'failed' else d.status end,
        failures = d.failures + case when $7 and not $6 then 1 else 0 end, updated_at = $5,
        attempts = case when jsonb_array_length(d.attempts) < ${entityLimits.eventDeliveryAttempts} then d.attempts else d.attempts - 0 end || $8::jsonb
      from served where d.webhook_id = served.id and d.company_id = served.company_id and d.id = $4 and d.snapshot is not null
      returning d.due_at is not null as is_due
    )
    select failing_since_ms, disabled, (select is_due from recorded) from served`,
}

/** Records the result of an attempt; disables the endpoint when it says so, or when it has failed for days. Throws LeaseLost. */
export async function recordAttempt(context: RequestContext, attempted: Attempted, result: RequestResult): Promise<AttemptOutcome> {
  const { webhookId, runId, deliveryId, requestedAt, isScheduled } = attempted
  const { attempt, status, retryAfterMs } = result
  const [now, success] = [clock.now(), attempt.error === null]
  const of = [webhookId, context.companyIds, runId, deliveryId]
  const shown = JSON.stringify(storableJson(attempt))
  const [row] = await context.statement(record, [...of, now, success, isScheduled, shown, requestedAt, pausesMs(retryAfterMs)])
  if (!row) throw new LeaseLost()
  if (success) return "succeeded"
  const isGone = status === entityLimits.goneStatus
  if (!row.disabled && (isGone || hasFailedForDays(row.failing_since_ms))) await disable(context, webhookId, isGone)
  return row.is_due ? "retried" : "failed"
}

const hasFailedForDays = (sinceMs: number | null | undefined) =>
  sinceMs != null && clock.now().getTime() - sinceMs >= entityLimits.failingEndpointMs

/** The pauses of the schedule with their random share, none shorter than what the endpoint demands. */
const pausesMs = (retryAfterMs: number) =>
  entityLimits.eventRetryPausesMs.map((ms) =>
    Math.max(ms * (1 + Math.random() * entityLimits.eventRetryJitter), Math.min(retryAfterMs, entityLimits.retryAfterMaxMs)),
  )

/** Disables an endpoint, unless an attempt at the same time succeeded. What a crash before it leaves out, the next attempt does. */
const disable = (context: RequestContext, id: string, isGone: boolean) =>
  context.transaction(async (tx) => {
    const endpoint = await tx.em.findOne(EventWebhook, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!endpoint || endpoint.disabled || !(isGone || hasFailedForDays(endpoint.failingSince?.getTime()))) return
    const reason = isGone ? "The endpoint answered with status 410 (Gone)" : "Every attempt failed for 5 days"
    endpoint.disableBecause(reason)
    tx.request.log.warn({ webhookId: id, reason }, "an endpoint for events was disabled")
  })
