import { callLimits } from "../calls/limits.js"
import { beginRecord, completeRecord, recordFailure } from "../calls/record.js"
import { Call } from "../entities/call.js"
import { doubling } from "../entities/kit/work-state.js"
import { defineWork } from "./kit/work.js"
import { jobLimits } from "./limits.js"

/** Completes the record of an ended call: transcript, recording, webhook_postcall. */
export const callRecord = defineWork({
  name: "call-record",
  entity: Call,
  columns: "record",
  lease: { ms: callLimits.leaseMs, renewMs: callLimits.renewMs },
  retry: {
    tries: Number.POSITIVE_INFINITY,
    pauseMs: doubling(callLimits.recordRetryBaseMs, callLimits.recordRetryMaxMs),
  },
  slots: jobLimits.callSlots,
  sweepSeconds: jobLimits.callSweepSeconds,
  claim: beginRecord,
  run: completeRecord,
  failure: recordFailure,
  giveUp: () => {},
})
