import { workOnVoiceAgent } from "../assistant/voice-agent.js"
import type { Job } from "./kit/scheduler.js"

/** Something is due about the voice agent of an assistant. The work outlives the job: the lease on the assistant says who does it. */
export const voiceAgent: Job = {
  name: "voice-agent",
  async run(services, companyId, assistantId) {
    services.running.add(workOnVoiceAgent(services, companyId, assistantId))
  },
}
