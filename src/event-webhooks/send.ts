import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import type { EventType } from "../entities/event.js"
import type { EndpointKey, EventWebhook } from "../entities/event-webhook.js"
import { clock } from "../entities/kit/clock.js"
import { eventWebhookLimits } from "./limits.js"
import { recordAttempt } from "./record.js"
import { type DeliveredEvent, sendEvent } from "./request.js"

/** The run that serves an endpoint. */
export interface Serving {
  runId: string
  isOrdered: boolean
}

/** A delivery of which a request is about to leave. */
interface DueDelivery extends DeliveredEvent {
  id: string
  chatId: string | null
  requestedAt: Date | null
  isScheduled: boolean
  /** The endpoint as it is now: its address and its secrets may have changed since the run began. */
  endpoint: EndpointKey
}

interface DueRow {
  id: string
  webhook_id: string
  company_id: string
  url: string
  query: string | null
  sealed_secret: string
  sealed_previous_secret: string | null
  secret_until_ms: number | null
  chat_id: string | null
  event_id: string
  type: EventType
  snapshot: object
  event_ms: number
  requested_ms: number | null
  is_scheduled: boolean
}

/**
 * Deliveries of a chat that was deleted, whose removal follows, are not sent. Of an ordered endpoint, a delivery waits for the earlier
 * ones of its chat; one that was requested again does not.
 */
const isFree = `
  (d.chat_id is null or d.type = 'CHAT_DELETED' or exists (select from chat c where c.id = d.chat_id and c.company_id = d.company_id))
  and (not w.ordered or d.chat_id is null or d.requested_at is not null or not exists (
    select from event_delivery e where e.webhook_id = d.webhook_id and e.company_id = d.company_id and e.chat_id = d.chat_id and e.status = 'pending'
      and e.position < d.position
  ))`

/** `$4` now, `$5` deliveries under way, `$6` chats under way. Without a row, nothing may be sent. */
const dueDeliveries: Statement<DueRow> = {
  name: "due-event-deliveries",
  text: `
    select d.id, d.chat_id, d.event_id, d.type, d.snapshot, (extract(epoch from d.event_created_at) * 1000)::float8 as event_ms,
      (extract(epoch from d.requested_at) * 1000)::float8 as requested_ms, coalesce(d.retry_at <= $4, false) as is_scheduled,
      d.webhook_id, d.company_id, w.url, w.query, w.sealed_secret, w.sealed_previous_secret,
      (extract(epoch from w.previous_secret_until) * 1000)::float8 as secret_until_ms
    from event_webhook w cross join lateral (
      select * from event_delivery d where d.webhook_id = w.id and d.company_id = w.company_id and d.due_at <= $4 and d.snapshot is not null
        and d.id <> all($5::uuid[]) and not (w.ordered and d.chat_id = any($6::uuid[])) and ${isFree}
      order by d.due_at, d.position
      limit greatest(0, case when w.failures_in_row >= ${eventWebhookLimits.failuresUntilSlow} then 1 else ${eventWebhookLimits.concurrency} end
        - cardinality($5::uuid[]))
    ) d
    where w.id = $1 and w.company_id = any($2::uuid[]) and w.sending_id = $3 and not w.disabled`,
}

const nextDue: Statement<{ due_ms: number | null }> = {
  name: "next-due-event-delivery",
  text: `
    select (extract(epoch from d.due_at) * 1000)::float8 as due_ms from event_webhook w cross join lateral (
      select due_at from event_delivery d where d.webhook_id = w.id and d.company_id = w.company_id and d.due_at is not null
        and d.snapshot is not null and ${isFree}
      order by d.due_at limit 1
    ) d
    where w.id = $1 and w.company_id = any($2::uuid[])`,
}

/** Reads the endpoint, in the transaction that claims it; null when it is disabled. */
export function beginServing(_tx: RequestContext, webhook: EventWebhook, runId: string): Serving | null {
  webhook.keepUpdatedAt()
  return webhook.disabled ? null : { runId, isOrdered: webhook.ordered }
}

/** Sends the due events of an endpoint, several at once, until none is due or others wait; then the endpoint is due again with its next delivery. */
export async function serve(lease: Lease<EventWebhook>, { runId, isOrdered }: Serving): Promise<void> {
  const { context, signal } = lease
  const underWay = new Map<string, { chatId: string | null; done: Promise<unknown> }>()
  const faults: unknown[] = []
  let ended = 0
  const until = performance.now() + eventWebhookLimits.turnMs
  const look = async () => {
    const chats = [...underWay.values()].flatMap(({ chatId }) => chatId ?? [])
    const values = [lease.id, context.companyIds, runId, clock.now(), [...underWay.keys()], chats]
    const rows = await context.statement(dueDeliveries, values)
    for (const delivery of firstOfChats(rows.map(dueDelivery), isOrdered)) {
      const { id, chatId } = delivery
      const done = attempt(lease, runId, delivery)
        .catch((error) => faults.push(error))
        .finally(() => {
          underWay.delete(id)
          ended += 1
        })
      underWay.set(id, { chatId, done })
    }
  }
  for (;;) {
    const endedBefore = ended
    const mayLook = faults.length === 0 && !signal.aborted && performance.now() < until
    if (mayLook) await look()
    // What ended during the look may have been what another delivery of its chat waited for.
    if (underWay.size === 0 && mayLook && ended > endedBefore) continue
    if (underWay.size === 0) break
    await Promise.race([...[...underWay.values()].map(({ done }) => done), pause()])
  }
  if (faults.length > 0) throw faults[0]
  signal.throwIfAborted()
  await lease.store((row, tx) => expectNext(row, tx))
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, eventWebhookLimits.lookMs).unref())

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms))

const dueDelivery = (row: DueRow): DueDelivery => ({
  id: row.id,
  chatId: row.chat_id,
  companyId: row.company_id,
  eventId: row.event_id,
  type: row.type,
  snapshot: row.snapshot,
  eventCreatedAt: new Date(row.event_ms),
  requestedAt: timeOf(row.requested_ms),
  isScheduled: row.is_scheduled,
  endpoint: {
    id: row.webhook_id,
    companyId: row.company_id,
    url: row.url,
    query: row.query,
    sealedSecret: row.sealed_secret,
    sealedPreviousSecret: row.sealed_previous_secret,
    previousSecretUntil: timeOf(row.secret_until_ms),
  },
})

/** Of an ordered endpoint one delivery per chat: of several that were requested, the first. */
const firstOfChats = (due: DueDelivery[], isOrdered: boolean) =>
  due.filter(({ chatId }, index) => !isOrdered || chatId === null || due.findIndex((each) => each.chatId === chatId) === index)

/** Sends an event and stores the result, if the run still holds the endpoint. */
async function attempt({ context, signal, id: webhookId }: Lease<EventWebhook>, runId: string, delivery: DueDelivery): Promise<void> {
  const result = await sendEvent(context.services, delivery.endpoint, delivery, signal)
  const { id: deliveryId, requestedAt, isScheduled } = delivery
  const outcome = await recordAttempt(context, { webhookId, runId, deliveryId, requestedAt, isScheduled }, result)
  context.services.metrics.eventDeliveries.inc({ outcome })
}

/** Makes the endpoint due with its next delivery. */
async function expectNext(webhook: EventWebhook, tx: RequestContext) {
  webhook.keepUpdatedAt()
  const [row] = await tx.run(nextDue, [webhook.id, tx.companyIds])
  const next = row?.due_ms ?? null
  webhook.sending.dueAt = next === null || webhook.disabled ? null : new Date(Math.max(next, clock.now().getTime()))
}
