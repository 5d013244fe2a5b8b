import { doubling } from "../entities/kit/work-state.js"
import { Knowledge } from "../entities/knowledge.js"
import { entityLimits } from "../entities/limits.js"
import { beginIndexing, indexItem, indexingFailure } from "../knowledge/indexing.js"
import { knowledgeLimits } from "../knowledge/limits.js"
import { defineWork } from "./kit/work.js"
import { jobLimits } from "./limits.js"

const { indexingLeaseMs, indexingLosses, indexingRetryBaseMs } = entityLimits

/** Indexes a knowledge item. Indexing fails in the end when it repeatedly ends the worker's process. */
export const indexKnowledge = defineWork({
  name: "index-knowledge",
  entity: Knowledge,
  columns: "indexing",
  lease: {
    ms: indexingLeaseMs,
    renewMs: knowledgeLimits.indexingRenewMs,
    losses: { most: indexingLosses, reason: `Its indexing was interrupted ${indexingLosses} times` },
  },
  retry: { tries: knowledgeLimits.indexingTries, pauseMs: doubling(indexingRetryBaseMs) },
  slots: knowledgeLimits.indexingSlots,
  sweepSeconds: jobLimits.indexingSweepSeconds,
  claim: beginIndexing,
  run: indexItem,
  failure: indexingFailure,
  giveUp: (item, { reason }) => item.failIndexing(reason),
})
