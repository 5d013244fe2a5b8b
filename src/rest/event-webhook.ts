import { routes } from "./kit/routes.js"

export const eventWebhookRoutes = routes("Event webhooks", {
  "GET /api/event-webhooks": {
    summary: "Lists endpoints for events, newest first, without their secrets.",
    document: `query ($companyId: UUID) { eventWebhooks(companyId: $companyId) { ...EventWebhook } }`,
    errorStatuses: [403],
  },
  "POST /api/event-webhooks": {
    summary: "Creates an endpoint for events; its secret is returned only in this response.",
    document: `mutation ($input: CreateEventWebhookInput!) { createEventWebhook(input: $input) { ...EventWebhook secret } }`,
    body: "input",
    errorStatuses: [400, 403],
  },
  "GET /api/event-webhooks/{id}": {
    summary: "Returns an endpoint for events, without its secret.",
    document: `query ($id: UUID!) { eventWebhook(id: $id) { ...EventWebhook } }`,
    errorStatuses: [403, 404],
  },
  "PATCH /api/event-webhooks/{id}": {
    summary: "Changes an endpoint for events.",
    document: `mutation ($id: UUID!, $input: UpdateEventWebhookInput!) { updateEventWebhook(id: $id, input: $input) { ...EventWebhook } }`,
    body: "input",
    errorStatuses: [400, 403, 404],
  },
  "DELETE /api/event-webhooks/{id}": {
    summary: "Deletes an endpoint for events, with its deliveries.",
    document: "mutation ($id: UUID!) { deleteEventWebhook(id: $id) { id deleted } }",
    errorStatuses: [403, 404],
  },
  "POST /api/event-webhooks/{id}/rotate-secret": {
    summary: "Gives an endpoint a new secret, returned only in this response; the one before signs too for 24 hours.",
    document: `mutation ($id: UUID!) { rotateEventWebhookSecret(id: $id) { ...EventWebhook secret } }`,
    errorStatuses: [403, 404],
  },
  "POST /api/event-webhooks/{id}/test": {
    summary: "Sends a signed test event to an endpoint, once, and returns its delivery with the response.",
    document: `mutation ($id: UUID!) { testEventWebhook(id: $id) { ...EventDelivery } }`,
    errorStatuses: [403, 404],
  },
  "POST /api/event-webhooks/{id}/redeliver": {
    summary:
      "Sends the events of a time range once more, and those that were never sent: while the endpoint was disabled, and before it was created.",
    document: `mutation ($id: UUID!, $since: DateTime!, $until: DateTime, $onlyFailed: Boolean) {
      redeliverEvents(webhookId: $id, since: $since, until: $until, onlyFailed: $onlyFailed) { count } }`,
    body: "fields",
    errorStatuses: [400, 403, 404],
  },
  "GET /api/event-webhooks/{id}/deliveries": {
    summary: "Lists deliveries of events to an endpoint, newest first, without their payloads.",
    document: `query ($id: UUID!, $status: EventDeliveryStatus, $type: EventType, $skip: Int, $take: Int) {
      eventDeliveries(webhookId: $id, status: $status, type: $type, skip: $skip, take: $take) { nodes { ...EventDelivery } totalCount } }`,
    page: "offset",
    errorStatuses: [403, 404],
  },
  "POST /api/event-webhooks/{id}/deliveries/{deliveryId}/redeliver": {
    summary: "Sends an event once more, now, with the same ID; scheduled attempts go on until one succeeds.",
    document: `mutation ($id: UUID!, $deliveryId: UUID!) { redeliverEvent(webhookId: $id, deliveryId: $deliveryId) { ...EventDelivery } }`,
    errorStatuses: [400, 403, 404],
  },
})
