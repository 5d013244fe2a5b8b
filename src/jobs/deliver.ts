import { deliver as deliverMessage } from "../channels/deliver.js"
import { beginDelivery } from "../channels/delivery.js"
import { claimDeliveries } from "../channels/delivery-statements.js"
import { channelLimits } from "../channels/limits.js"
import { Chat } from "../entities/chat.js"
import { doubling } from "../entities/kit/work-state.js"
import { defineWork } from "./kit/work.js"

/** Sends the queued messages of a chat to its channel, one after the other. */
export const deliver = defineWork({
  name: "deliver",
  entity: Chat,
  columns: "delivery",
  lease: { ms: channelLimits.deliveryLeaseMs, renewMs: channelLimits.deliveryRenewMs },
  // Refusals of the channel are a result (`afterFailure`); these are faults of this server, after which nothing may be lost.
  retry: { tries: Number.POSITIVE_INFINITY, pauseMs: doubling(channelLimits.deliveryRetryBaseMs, channelLimits.deliveryRetryMaxMs) },
  slots: channelLimits.deliverySlots,
  sweepSeconds: channelLimits.deliverySweepSeconds,
  claim: beginDelivery,
  claimAtOnce: claimDeliveries,
  run: deliverMessage,
  failure({ request: { log } }, error) {
    log.error({ err: error }, "a delivery failed")
    return { reason: "The delivery failed" }
  },
  giveUp() {},
  undo: (chat) => chat.keepUpdatedAt(),
})
