import { computed, readModel } from "../database/read-model.js"
import { EventDelivery } from "../entities/event-delivery.js"
import { pageOf } from "./kit/page.js"

/** Only the responses of a redelivery and a test contain the payload: a list of large payloads would be slow. */
export const eventDeliveryReadModel = readModel("EventDelivery", {
  payload: computed([], () => null),
  nextAttemptAt: computed(["dueAt"], ({ dueAt }) => dueAt),
})
export const EventDeliveryPage = pageOf(EventDelivery, "deliveries")
