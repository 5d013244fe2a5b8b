import { v7 } from "uuid"
import type { RequestContext } from "../context/request-context.js"
import { EventDelivery } from "../entities/event-delivery.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { clock } from "../entities/kit/clock.js"
import { NotFound } from "../errors/errors.js"
import { shownDelivery } from "./redeliver.js"
import { sendEvent } from "./request.js"

/** Sends one signed test event, which is not repeated and does not count for the state of the endpoint; returns its delivery. */
export async function testEndpoint(context: RequestContext, id: string) {
  const snapshot = { value: { webhookId: id, message: "This is a test" } }
  const event = { eventId: `test_${v7()}`, type: "EVENT_WEBHOOK_TEST" as const, chatId: null, eventCreatedAt: clock.now(), snapshot }
  const webhook = await context.transaction((tx) => tx.em.findOne(EventWebhook, { id }))
  if (!webhook) throw new NotFound("Event webhook")
  const { companyId } = webhook
  const { attempt } = await sendEvent(context.services, webhook, { ...event, companyId }, context.services.stopping)
  return context.transaction(async (tx) => {
    await tx.find(EventWebhook, id, "Event webhook")
    const status = attempt.error === null ? ("succeeded" as const) : ("failed" as const)
    const delivery = Object.assign(new EventDelivery(), { ...event, companyId, webhookId: id, status, attempts: [attempt] })
    tx.em.persist(delivery)
    return shownDelivery(tx, webhook, delivery)
  })
}
