import { EventWebhook } from "../entities/event-webhook.js"
import { doubling } from "../entities/kit/work-state.js"
import { eventWebhookLimits } from "../event-webhooks/limits.js"
import { beginServing, serve } from "../event-webhooks/send.js"
import { defineWork } from "./kit/work.js"

/** Sends the due events of an endpoint. */
export const sendEvents = defineWork({
  name: "send-events",
  entity: EventWebhook,
  columns: "sending",
  lease: { ms: eventWebhookLimits.leaseMs, renewMs: eventWebhookLimits.renewMs },
  // A failed request is a result; these are faults of this server, after which nothing may be lost.
  retry: { tries: Number.POSITIVE_INFINITY, pauseMs: doubling(eventWebhookLimits.faultPauseMs, eventWebhookLimits.faultPauseMaxMs) },
  slots: eventWebhookLimits.slots,
  sweepSeconds: eventWebhookLimits.sweepSeconds,
  claim: beginServing,
  run: serve,
  failure({ request: { log } }, error) {
    log.error({ err: error }, "events could not be sent")
    return { reason: "The events could not be sent" }
  },
  giveUp() {},
  undo: (webhook) => webhook.keepUpdatedAt(),
})
