import { channelLimits } from "../channels/limits.js"
import { beginPoll, pollChannel, pollFailure } from "../channels/poll.js"
import { Channel } from "../entities/channel.js"
import { doubling } from "../entities/kit/work-state.js"
import { defineWork } from "./kit/work.js"

const retry = { tries: Number.POSITIVE_INFINITY, pauseMs: doubling(channelLimits.deliveryRetryBaseMs, channelLimits.pollRetryMaxMs) }

/** Reads the events of a connection from a vendor that calls no hook. */
export const pollChannelWork = defineWork({
  name: "poll-channel",
  entity: Channel,
  columns: "polling",
  lease: { ms: channelLimits.deliveryLeaseMs, renewMs: channelLimits.deliveryRenewMs },
  retry(channel, failure) {
    if ("isRefused" in failure && failure.isRefused) channel.setProblem(failure.reason)
    return retry
  },
  slots: channelLimits.pollSlots,
  sweepSeconds: channelLimits.deliverySweepSeconds,
  claim: beginPoll,
  run: pollChannel,
  failure: pollFailure,
  giveUp() {},
  undo: (channel) => channel.keepUpdatedAt(),
})
