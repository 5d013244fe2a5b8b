import { v5 as uuidV5 } from "uuid"
import { VoiceFailure, type VoiceProvider } from "../voice.js"

// Never change it: assistants have agents under these ids.
const NAMESPACE = "0c2b9a54-7b7e-4b0b-8d3f-6c1f0f6c7a21"

/**
 * The built-in voice provider: it dials no number and speaks to nobody. Agents live in no service outside; the id of one follows from its
 * assistant, so that every instance, and every start, knows the same agent.
 */
export function simulatedVoice(): VoiceProvider {
  return {
    name: "simulated",
    async provision({ assistantId }, signal) {
      mustGoOn(signal)
      return `simulated-${uuidV5(assistantId, NAMESPACE)}`
    },
    async tearDown(_agent, signal) {
      mustGoOn(signal)
    },
  }
}

function mustGoOn(signal: AbortSignal) {
  if (signal.aborted) throw new VoiceFailure("The request to the voice provider was stopped")
}
