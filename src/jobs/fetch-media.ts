import { beginFetch, fetchFailure, fetchFile } from "../channels/fetch-file.js"
import { channelLimits } from "../channels/limits.js"
import { doubling } from "../entities/kit/work-state.js"
import { Media } from "../entities/media.js"
import { defineWork } from "./kit/work.js"

/** Fetches a file that a customer sent over a channel. */
export const fetchMedia = defineWork({
  name: "fetch-media",
  entity: Media,
  columns: "fetching",
  lease: {
    ms: channelLimits.fetchLeaseMs,
    renewMs: channelLimits.fetchRenewMs,
    losses: { most: channelLimits.fetchLosses, reason: "fetching it was interrupted" },
  },
  retry: { tries: channelLimits.fetchTries, pauseMs: doubling(channelLimits.fetchRetryBaseMs) },
  slots: channelLimits.fetchSlots,
  sweepSeconds: channelLimits.fetchSweepSeconds,
  claim: beginFetch,
  run: fetchFile,
  failure: fetchFailure,
  giveUp: (media, { reason }) => media.failFetching(reason),
})
