import { v5 as uuidV5 } from "uuid"
import { VoiceFailure, type VoiceProvider } from "../voice.js"

// Must not change: IDs of existing agents derive from it.
const NAMESPACE = "0c2b9a54-7b7e-4b0b-8d3f-6c1f0f6c7a21"

/**
 * The built-in voice provider, which makes no calls. Its agents exist in no external service; an agent's ID derives from its assistant,
 * so that it is the same on every instance and after every start.
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
