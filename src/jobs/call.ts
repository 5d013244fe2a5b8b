import { callLimits } from "../calls/limits.js"
import { beginCall, callFailure, followCall, giveCallUp } from "../calls/line.js"
import { Call } from "../entities/call.js"
import { doubling } from "../entities/kit/work-state.js"
import { defineWork } from "./kit/work.js"
import { jobLimits } from "./limits.js"

/** Follows a call from its line to its end: dials it, and finds out how it goes on. */
export const call = defineWork({
  name: "call",
  entity: Call,
  columns: "line",
  lease: { ms: callLimits.leaseMs, renewMs: callLimits.renewMs },
  retry: { tries: Number.POSITIVE_INFINITY, pauseMs: doubling(callLimits.stepRetryBaseMs, callLimits.pollMs) },
  slots: jobLimits.callSlots,
  sweepSeconds: jobLimits.callSweepSeconds,
  claim: beginCall,
  run: followCall,
  failure: callFailure,
  giveUp: giveCallUp,
})
