import { channelLimits } from "../channels/limits.js"
import { beginItem, handleItem, itemFailure } from "../channels/waiting-item.js"
import { ChannelItem } from "../entities/channel-item.js"
import { doubling } from "../entities/kit/work-state.js"
import { defineWork } from "./kit/work.js"

/** Handles what a channel reported and could not be stored at once: mails whose content has to be asked for, echoes that wait. */
export const channelItem = defineWork({
  name: "channel-item",
  entity: ChannelItem,
  columns: "handling",
  lease: { ms: channelLimits.fetchLeaseMs, renewMs: channelLimits.fetchRenewMs },
  retry: { tries: channelLimits.itemTries, pauseMs: doubling(channelLimits.fetchRetryBaseMs, channelLimits.deliveryRetryMaxMs) },
  slots: channelLimits.fetchSlots,
  sweepSeconds: channelLimits.fetchSweepSeconds,
  claim: beginItem,
  run: handleItem,
  failure: itemFailure,
  giveUp: (row, { reason }, { request: { log } }) => {
    log.error({ reason }, "an item of a channel was given up")
    row.state = "unsupported"
  },
})
