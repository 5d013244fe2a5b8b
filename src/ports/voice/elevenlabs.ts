import { createHmac, timingSafeEqual } from "node:crypto"
import { Readable } from "node:stream"
import { portLimits } from "../limits.js"
import { type DialRequest, type DialResult, VoiceFailure, type VoiceProvider } from "../voice.js"
import { provisionAgent, removeAgent, withoutPlaceholders } from "./elevenlabs-agent.js"
import { ElevenLabsApi, NoResponse, wordsOf } from "./elevenlabs-api.js"
import { factsOf, reportOf } from "./elevenlabs-facts.js"

/** Options of the voice provider ElevenLabs. */
export interface ElevenLabsOptions {
  baseUrl: string
  apiKey: string
  /** Without it no webhook is accepted, and calls are followed by look-ups alone. */
  webhookSecret: string | null
}

/** The voice provider ElevenLabs: its agents lead the conversations over a telephone number of the account. */
export function elevenLabsVoice({ baseUrl, apiKey, webhookSecret }: ElevenLabsOptions): VoiceProvider {
  const api = new ElevenLabsApi(baseUrl.replace(/\/$/, ""), apiKey)
  return {
    name: "elevenlabs",
    capabilities: { hangUp: false, webhooks: webhookSecret !== null, exactLookUp: false, agents: true },
    provision: (settings, signal) => provisionAgent(api, settings, signal),
    tearDown: (agent, signal) => removeAgent(api, agent, signal),
    dial: (request, signal) => dial(api, request, signal),
    // Only a contract with the vendor allows it.
    hangUp: async () => false,
    verifyWebhook: ({ headers, body }, now) =>
      webhookSecret !== null && isSigned(String(headers["elevenlabs-signature"] ?? ""), body, webhookSecret, now),
    parseWebhook: reportOf,
    async lookUp({ callId, providerCallId }, signal) {
      const id = providerCallId ?? (await conversationOf(api, callId, signal))
      const found = id && (await api.find("GET", `/conversations/${encodeURIComponent(id)}`, signal))
      return found ? factsOf({ conversation_id: id, ...found }) : null
    },
    async recording({ callId, providerCallId }, signal) {
      if (!providerCallId) return null
      const body = await api.stream(`/conversations/${encodeURIComponent(providerCallId)}/audio`, signal)
      return body && { content: Readable.fromWeb(body as never), filename: `call-${callId}.mp3` }
    },
  }
}

async function conversationOf(api: ElevenLabsApi, callId: string, signal: AbortSignal): Promise<string | null> {
  const { conversations = [] } = await api.ask("GET", `/conversations?user_id=${callId}`, signal)
  return conversations[0]?.conversation_id ?? null
}

async function dial(api: ElevenLabsApi, request: DialRequest, signal: AbortSignal): Promise<DialResult> {
  const refused = (reason: string, busy = false, retryAfterMs = 0): DialResult => ({ kind: "refused", reason, busy, retryAfterMs })
  if (!request.agent.agentId) return refused("The assistant has no agent at ElevenLabs")
  let number: { phone_number_id: string; provider: string } | undefined
  try {
    number = await numberOf(api, request.fromNumber, signal)
  } catch (error) {
    // Nothing was dialed yet.
    if (error instanceof VoiceFailure) return refused(error.message, !error.isFinal, error.retryAfterMs)
    throw error
  }
  if (!number) return refused(`ElevenLabs has no number ${request.fromNumber ?? "for outbound calls"}`)
  const path = `/${number.provider === "sip_trunk" ? "sip-trunk" : "twilio"}/outbound-call`
  try {
    const { status, json, retryAfterMs } = await api.send("POST", path, signal, dialBody(request, number.phone_number_id))
    if (status === 429) return refused("ElevenLabs has no free line", true, retryAfterMs)
    if (status >= 400 && status < 500) return refused(`ElevenLabs answered ${status}${wordsOf(json)}`)
    if (status >= 200 && status < 300 && json?.success === false) return refused(`ElevenLabs refused the call${wordsOf(json)}`)
    if (status >= 500 || !json?.conversation_id) return { kind: "in_doubt", reason: `ElevenLabs answered ${status} without a conversation` }
    return { kind: "dialed", providerCallId: String(json.conversation_id), reference: json.callSid ?? json.sip_call_id ?? null }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    return error.isSent ? { kind: "in_doubt", reason: error.message } : refused(error.message, true)
  }
}

/** The number that calls: the given one, which must be the account's, or its first for outbound calls. */
async function numberOf(api: ElevenLabsApi, wanted: string | null, signal: AbortSignal) {
  const numbers = await api.ask("GET", "/phone-numbers", signal)
  const list: { phone_number_id: string; phone_number: string; provider: string; supports_outbound?: boolean }[] = Array.isArray(numbers)
    ? numbers
    : []
  return list.find((each) => (wanted ? each.phone_number === wanted : each.supports_outbound !== false))
}

const dialBody = ({ callId, agent, toNumber, ringSeconds }: DialRequest, numberId: string) => ({
  agent_id: agent.agentId,
  agent_phone_number_id: numberId,
  to_number: toNumber,
  conversation_initiation_client_data: {
    user_id: callId,
    dynamic_variables: { call_id: callId },
    conversation_config_override: {
      agent: {
        first_message: withoutPlaceholders(agent.firstMessage ?? ""),
        language: agent.language.split("-")[0],
        prompt: { prompt: withoutPlaceholders(agent.instructions) },
      },
      ...(agent.voiceId && { tts: { voice_id: agent.voiceId } }),
    },
  },
  telephony_call_config: { ringing_timeout_secs: ringSeconds },
})

/** Whether one of the signatures in the header is right, and its time at most half an hour ago. */
function isSigned(header: string, body: Buffer, secret: string, now: Date): boolean {
  const parts = header.split(",").map((part) => part.trim().split("="))
  const time = parts.find(([name]) => name === "t")?.[1] ?? ""
  const age = Math.floor(now.getTime() / 1000) - Number(time)
  if (!/^\d+$/.test(time) || age < 0 || age > portLimits.voiceWebhookSeconds) return false
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest()
  return parts.some(([name, value = ""]) => {
    const given = Buffer.from(value, "hex")
    return name === "v0" && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
