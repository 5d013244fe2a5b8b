import { Webhook } from "standardwebhooks"
import type { Services } from "../context/services.js"
import type { EventType } from "../entities/event.js"
import type { EventDeliveryAttempt } from "../entities/event-delivery.js"
import { type EndpointKey, signingSecrets } from "../entities/event-webhook.js"
import { clock } from "../entities/kit/clock.js"
import { CannotUnseal } from "../entities/kit/sealed.js"
import { storableText } from "../entities/kit/storable.js"
import { payloadOf } from "../events/logged-event.js"
import { GuardedRequestError } from "../ports/kit/guarded-http-client.js"
import { retryAfterOf } from "../ports/kit/vendor-http.js"
import { eventWebhookLimits } from "./limits.js"

/** An event as it is delivered. */
export interface DeliveredEvent {
  eventId: string
  type: EventType
  companyId: string
  chatId: string | null
  eventCreatedAt: Date
  snapshot: object
}

/** The result of one request. */
export interface RequestResult {
  attempt: EventDeliveryAttempt
  status: number | null
  retryAfterMs: number
}

/** Statuses whose `Retry-After` counts: too many requests, and unavailable. */
const asksToWait = [429, 503]

type RequestServices = Pick<Services, "httpClient" | "secrets" | "represent" | "eventSelections" | "log">

/** The payload of an event for an endpoint: its selection, or the payload that a subscription receives. Files get new URLs each time. */
export function shownPayload(
  { represent, eventSelections }: Pick<Services, "represent" | "eventSelections">,
  query: string | null,
  event: DeliveredEvent,
) {
  const { eventId: id, type, companyId, chatId, eventCreatedAt, snapshot } = event
  const payload = payloadOf(snapshot, represent)
  return query === null
    ? payload
    : eventSelections.select(query, companyId, { id, type, chatId, createdAt: eventCreatedAt.toISOString(), payload, stored: snapshot })
}

/**
 * Sends an event with one signed request (Standard Webhooks). Whatever the endpoint does is a result, and so is an event that cannot be sent;
 * throws only when the request was stopped, so that its outcome is not known.
 */
export async function sendEvent(
  services: RequestServices,
  webhook: EndpointKey,
  event: DeliveredEvent,
  signal?: AbortSignal,
): Promise<RequestResult> {
  const begin = performance.now()
  const attemptedAt = clock.now()
  const result = (attempt: Pick<EventDeliveryAttempt, "responseStatus" | "responseBody" | "error">, retryAfterMs = 0): RequestResult => ({
    attempt: { attemptedAt: attemptedAt.toISOString(), ...attempt, latencyMs: Math.round(performance.now() - begin) },
    status: attempt.responseStatus,
    retryAfterMs,
  })
  try {
    const { timeoutMs, responseBytes: maxBytes } = eventWebhookLimits
    const signed = signedRequest(services, webhook, event, attemptedAt)
    const answer = await services.httpClient.request(webhook.url, {
      ...signed,
      method: "POST",
      timeoutMs,
      maxBytes,
      ...(signal && { signal }),
    })
    const { status, headers, body } = answer
    const error = status >= 200 && status < 300 ? null : `The endpoint answered with status ${status}`
    const retryAfterMs = !asksToWait.includes(status) ? null : retryAfterOf([headers["retry-after"]].flat()[0] ?? null)
    return result({ responseStatus: status, responseBody: textOf(body), error }, retryAfterMs ?? 0)
  } catch (error) {
    if (error instanceof GuardedRequestError && error.reason === "aborted") throw error
    return result({ responseStatus: null, responseBody: null, error: whyNot(services, webhook, error) })
  }
}

function signedRequest(services: RequestServices, webhook: EndpointKey, event: DeliveredEvent, at: Date) {
  const { eventId: id, type, eventCreatedAt, companyId } = event
  const payload = shownPayload(services, webhook.query, event)
  const body = JSON.stringify({ id, type, createdAt: eventCreatedAt.toISOString(), companyId, payload })
  const signatures = signingSecrets(webhook, services.secrets).map((secret) => new Webhook(secret).sign(id, at, body))
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Service-Platform-API/1.0",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": signatures.join(" "),
  }
  return { headers, body }
}

/** Why there was no response, as a sentence. A fault with one event must not keep back the others, so it is a failed attempt too. */
function whyNot({ log }: RequestServices, { id: webhookId, companyId }: EndpointKey, error: unknown): string {
  if (error instanceof GuardedRequestError) return error.message
  log.error({ err: error, webhookId, companyId }, "an event could not be sent")
  return error instanceof CannotUnseal ? `The secret of the endpoint ${error.message}: rotate it` : "The server could not send the event"
}

/** The response as text; null when it is empty. A cut response may end inside a character, which the decoder drops. */
const textOf = (body: Buffer) => storableText(new TextDecoder().decode(body, { stream: true })) || null
