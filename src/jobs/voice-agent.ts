import { assistantLimits } from "../assistant/limits.js"
import { beginVoiceTask, giveVoiceUp, voiceFailure, workOnVoiceAgent } from "../assistant/voice-agent.js"
import { Assistant } from "../entities/assistant.js"
import { entityLimits } from "../entities/limits.js"
import { defineWork } from "./kit/work.js"
import { jobLimits } from "./limits.js"

/** Runs the next task of an assistant's voice agent. */
export const voiceAgent = defineWork({
  name: "voice-agent",
  entity: Assistant,
  columns: "voice",
  lease: { ms: entityLimits.voiceLeaseMs, renewMs: assistantLimits.voiceRenewMs },
  retry: (assistant, { reason }) => assistant.retryVoice(reason),
  slots: jobLimits.voiceSlots,
  sweepSeconds: jobLimits.voiceSweepSeconds,
  claim: beginVoiceTask,
  run: workOnVoiceAgent,
  failure: voiceFailure,
  giveUp: (assistant, _failure, context) => giveVoiceUp(assistant, context),
  undo: (assistant) => assistant.keepUpdatedAt(),
})
