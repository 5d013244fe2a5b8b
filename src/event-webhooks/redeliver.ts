import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { EventDelivery } from "../entities/event-delivery.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { clock } from "../entities/kit/clock.js"
import { BadUserInput, NotFound } from "../errors/errors.js"
import { eventWebhookLimits } from "./limits.js"
import { shownPayload } from "./request.js"
import { columns, valuesOf } from "./rows.js"

/** A delivery with its payload, as the mutations return it: a planned read could not find the payload. */
export const shownDelivery = ({ services }: RequestContext, { query }: EventWebhook, delivery: EventDelivery) => {
  const { snapshot, dueAt: nextAttemptAt } = delivery
  return { ...delivery, nextAttemptAt, payload: snapshot && shownPayload(services, query, { ...delivery, snapshot }) }
}

/** Finds and locks an endpoint, which is due now; throws when nothing can be sent to it. */
async function due(tx: RequestContext, id: string): Promise<EventWebhook> {
  const webhook = await tx.find(EventWebhook, id, "Event webhook")
  webhook.mustBeEnabled()
  webhook.keepUpdatedAt()
  webhook.expectWork(webhook.sending, clock.now())
  return webhook
}

/** Sends an event once more; scheduled attempts go on. */
export const redeliverEvent = (context: RequestContext, webhookId: string, deliveryId: string) =>
  context.transaction(async (tx) => {
    const webhook = await due(tx, webhookId)
    const delivery = await tx.find(EventDelivery, deliveryId, "Delivery")
    if (delivery.webhookId !== webhookId) throw new NotFound("Delivery")
    delivery.redeliver()
    return shownDelivery(tx, webhook, delivery)
  })

/** The events to send again: of which time, and whether only those that have failed or were never sent. */
export interface RedeliveryRange {
  since: Date
  /** Null: until now. */
  until: Date | null
  onlyFailed: boolean
}

/** `$6` whether only what failed, `$7` size of the batch. What was requested at `$3` is not found again. */
const requestAgain: Statement = {
  name: "redeliver-events",
  text: `
    update event_delivery set requested_at = $3, due_at = $3, updated_at = $3 where id in (
      select id from event_delivery where webhook_id = $1 and company_id = any($2::uuid[]) and event_created_at >= $4
        and ($5::timestamptz is null or event_created_at < $5)
        and snapshot is not null and requested_at is distinct from $3 and (status = 'failed' or not $6::boolean) and position is not null
      limit $7 for no key update
    ) returning id`,
}

/** Events that the endpoint has no delivery of, because it was disabled or did not exist; those ahead of the reader get theirs from it. `$6` size of the batch. */
const addMissing: Statement = {
  name: "add-missed-event-deliveries",
  text: `
    insert into event_delivery (${columns})
    select ${valuesOf({ now: "$3", event: "e", webhook: "w", requestedAt: "null", retryAt: "$3" })}
    from event_webhook w join event_fan_out reader on reader.id = 1
    join event e on e.company_id = w.company_id and e.position <= greatest(reader.position, w.from_position)
    where w.id = $1 and w.company_id = any($2::uuid[]) and e.type = any(w.types) and e.created_at >= $4 and ($5::timestamptz is null or e.created_at < $5)
      and (e.type = 'CHAT_DELETED' or e.chat_id is null or exists (select from chat c where c.id = e.chat_id and c.company_id = e.company_id))
      and not exists (select from event_delivery d where d.webhook_id = w.id and d.position = e.position)
    order by e.position limit $6 on conflict do nothing returning id`,
}

/** Runs a statement, each time in a transaction that makes the endpoint due, until it finds less than a batch. */
async function inBatches(context: RequestContext, id: string, statement: Statement, values: unknown[]): Promise<number> {
  for (let count = 0; ; ) {
    const { length } = await context.transaction(async (tx) => {
      await due(tx, id)
      return tx.run(statement, [id, tx.companyIds, ...values, eventWebhookLimits.redeliverBatch])
    })
    count += length
    if (length < eventWebhookLimits.redeliverBatch) return count
  }
}

/** Sends the events of a time range again, and those that the endpoint never got; returns how many. */
export async function redeliverEvents(context: RequestContext, id: string, { since, until, onlyFailed }: RedeliveryRange): Promise<number> {
  if (until && since >= until) throw new BadUserInput("since must be before until", [{ path: "since", message: "must be before until" }])
  const values = [clock.now(), since, until]
  const again = await inBatches(context, id, requestAgain, [...values, onlyFailed])
  return again + (await inBatches(context, id, addMissing, values))
}
