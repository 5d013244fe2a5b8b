import { Readable } from "node:stream"
import { setTimeout as pause } from "node:timers/promises"
import { v5 as uuidV5 } from "uuid"
import { portLimits } from "../limits.js"
import { type CallEnding, type CallFacts, VoiceFailure, type VoiceHost, type VoiceProvider } from "../voice.js"
import { type SimulatedScript, scriptOf } from "./simulated-script.js"
import { timed, toneRecording } from "./simulated-sound.js"

// Must not change: IDs of existing agents derive from it.
const NAMESPACE = "0c2b9a54-7b7e-4b0b-8d3f-6c1f0f6c7a21"

const ended = { failure: null, sipStatus: null, reason: null, isError: false }

/** How each script ends, in the words of a provider. */
const endings: Record<SimulatedScript, CallEnding> = {
  answer: { ...ended, reason: "Call ended by remote party" },
  hang_up: { ...ended, reason: "Call ended by remote party" },
  voicemail: { ...ended, reason: "voicemail_detection tool was called." },
  silence: { ...ended, reason: "Call ended after some seconds of silence" },
  max_duration: { ...ended, reason: "The call reached its maximum duration" },
  no_answer: { ...ended, failure: "no-answer" },
  busy: { ...ended, failure: "busy" },
  fail: { ...ended, failure: "unknown", isError: true },
}

/**
 * The built-in voice provider, which has no telephone network: a scripted customer answers, and the assistant speaks with its own model and
 * tools. What was said is kept on the call, so another instance continues it after a crash. Agents exist in no external service.
 */
export function simulatedVoice(): VoiceProvider {
  return {
    name: "simulated",
    capabilities: { hangUp: true, webhooks: false, exactLookUp: true, agents: false },
    async provision({ assistantId }, signal) {
      mustGoOn(signal)
      return `simulated-${uuidV5(assistantId, NAMESPACE)}`
    },
    async tearDown(_agent, signal) {
      mustGoOn(signal)
    },
    dial: async ({ callId }) => ({ kind: "dialed", providerCallId: `simulated-${callId}`, reference: null }),
    hangUp: async () => true,
    verifyWebhook: () => false,
    parseWebhook: () => null,
    // Nothing outside this server dials: a call that was not recorded as dialed was not.
    lookUp: async () => null,
    recording: async ({ callId, replies }) =>
      replies.length === 0 ? null : { content: Readable.from([toneRecording(replies)]), filename: `call-${callId}.wav` },
    async play(call, host, signal) {
      try {
        return await play(call, host, signal)
      } catch (error) {
        if (signal.aborted) throw new VoiceFailure("The simulated call was interrupted")
        throw error
      }
    },
  }
}

async function play(call: { callId: string; providerCallId: string | null }, host: VoiceHost, signal: AbortSignal): Promise<CallFacts> {
  const { script, lines } = scriptOf(host)
  const facts = { ...call, reference: null, state: "ended" as const, ending: endings[script] }
  if (host.said.length === 0) await pause(portLimits.simulatedRingMs, undefined, { signal })
  if (endings[script].failure) return { ...facts, durationSeconds: null, replies: [] }
  await host.answered()
  const said = await talk(host, lines, signal)
  const replies = timed(said)
  const spoken = Math.max(1, Math.ceil(replies.at(-1)?.endSeconds ?? 0))
  const durationSeconds =
    script === "max_duration" ? host.maxDurationSeconds : script === "silence" ? spoken + host.silenceTimeoutSeconds : spoken
  return { ...facts, durationSeconds, replies }
}

/** The conversation: the greeting, then each line of the customer with the assistant's answer. */
async function talk(host: VoiceHost, lines: string[], signal: AbortSignal) {
  const said = [...host.said]
  const stepMs = portLimits.simulatedTalkMs / (2 * lines.length + 1)
  const say = async (role: "agent" | "customer", text: string) => {
    await pause(stepMs, undefined, { signal })
    await host.say(role, text)
    said.push({ role, text })
  }
  if (said.length === 0 && host.firstMessage?.trim()) await say("agent", host.firstMessage)
  for (const [index, line] of lines.entries()) {
    const spoken = said.filter(({ role }) => role === "customer").length
    if (spoken > index + 1) continue
    if (spoken === index) await say("customer", line)
    // Answered before this process resumed the call.
    if (said.at(-1)!.role === "agent") continue
    const answer = await host.answer()
    if (answer) await say("agent", answer)
  }
  return said
}

function mustGoOn(signal: AbortSignal) {
  if (signal.aborted) throw new VoiceFailure("The request to the voice provider was stopped")
}
