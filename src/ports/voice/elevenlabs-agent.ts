import { createHash } from "node:crypto"
import type { VoiceAgentSettings, VoiceTool } from "../voice.js"
import type { ElevenLabsApi } from "./elevenlabs-api.js"

// biome-ignore lint/suspicious/noExplicitAny: a vendor's JSON, read field by field.
type Json = any

/** The header by which this server knows that a tool call comes from its agent. */
export const toolSecretHeader = "X-Voice-Tool-Secret"

/** A text without the vendor's placeholders: one that is named but not given would fail the call. */
export const withoutPlaceholders = (text: string) => text.replaceAll("{{", "{ {")

/** The agent's name has the assistant's ID, by which an agent is found whose creation was not noticed. */
const agentName = ({ name, assistantId }: VoiceAgentSettings) => `${name} [${assistantId}]`

const isEnglish = (language: string) => /^en\b/i.test(language)

const builtIn = (name: string, description: string) => ({ type: "system", name, description, params: { system_tool_type: name } })

/** The configuration of an agent; the texts of a call travel with its dial. */
function configOf(settings: VoiceAgentSettings, toolIds: string[]) {
  const { instructions, firstMessage, language, model, temperature, voiceId, interruptible } = settings
  return {
    name: agentName(settings),
    conversation_config: {
      agent: {
        first_message: withoutPlaceholders(firstMessage ?? ""),
        language: language.split("-")[0],
        prompt: {
          prompt: withoutPlaceholders(instructions),
          ...(model && { llm: model }),
          ...(temperature != null && { temperature }),
          tool_ids: toolIds,
          built_in_tools: {
            end_call: builtIn("end_call", "Ends the call when the conversation is over."),
            voicemail_detection: builtIn("voicemail_detection", "Ends the call when a voicemail answers."),
          },
        },
      },
      tts: { ...(voiceId && { voice_id: voiceId }), model_id: isEnglish(language) ? "eleven_flash_v2" : "eleven_flash_v2_5" },
      turn: { silence_end_call_timeout: settings.silenceTimeoutSeconds },
      conversation: {
        max_duration_seconds: settings.maxDurationSeconds,
        client_events: interruptible ? ["audio", "interruption"] : ["audio"],
      },
    },
    platform_settings: {
      overrides: {
        conversation_config_override: {
          agent: { first_message: true, language: true, prompt: { prompt: true } },
          tts: { voice_id: true },
        },
      },
    },
  }
}

/** The properties of a schema with the types that the vendor knows; others are texts. */
function propertiesOf(parameters: Record<string, unknown>) {
  const properties = Object.entries((parameters["properties"] ?? {}) as Record<string, Json>)
  const known = ["string", "number", "integer", "boolean"]
  return Object.fromEntries(
    properties.map(([name, { type, description }]) => [
      name,
      { type: known.includes(type) ? type : "string", description: description ?? name },
    ]),
  )
}

const toolConfig = (tool: VoiceTool, secretId: string) => ({
  tool_config: {
    type: "webhook",
    name: tool.name,
    description: tool.description,
    response_timeout_secs: tool.timeoutSeconds,
    api_schema: {
      url: tool.url,
      method: "POST",
      request_headers: { [toolSecretHeader]: { secret_id: secretId } },
      request_body_schema: {
        type: "object",
        required: [...((tool.parameters["required"] as string[] | undefined) ?? []), "call_id"],
        properties: { ...propertiesOf(tool.parameters), call_id: { type: "string", dynamic_variable: "call_id" } },
      },
    },
  },
})

/** Creates or updates the agent of an assistant with its tools; returns its ID. */
export async function provisionAgent(api: ElevenLabsApi, settings: VoiceAgentSettings, signal: AbortSignal): Promise<string> {
  const known = await findAgent(api, settings, signal)
  const toolIds = await provisionTools(api, settings, toolIdsOf(known), signal)
  if (known) {
    await api.ask("PATCH", `/agents/${known.agent_id}`, signal, configOf(settings, toolIds))
    // Only now does no agent use them.
    for (const id of toolIdsOf(known).slice(toolIds.length)) await api.find("DELETE", `/tools/${id}`, signal)
    return known.agent_id
  }
  const { agent_id: agentId } = await api.ask("POST", "/agents/create", signal, configOf(settings, toolIds))
  return String(agentId)
}

/** Removes the agent of an assistant with its tools; what is missing is done. */
export async function removeAgent(
  api: ElevenLabsApi,
  agent: { assistantId: string; agentId: string | null },
  signal: AbortSignal,
): Promise<void> {
  const known = await findAgent(api, agent, signal)
  if (!known) return
  for (const id of toolIdsOf(known)) await api.find("DELETE", `/tools/${id}`, signal)
  await api.find("DELETE", `/agents/${known.agent_id}`, signal)
}

async function findAgent(
  api: ElevenLabsApi,
  { assistantId, agentId }: { assistantId: string; agentId: string | null },
  signal: AbortSignal,
): Promise<Json | null> {
  if (agentId) {
    const known = await api.find("GET", `/agents/${agentId}`, signal)
    if (known) return known
  }
  const { agents = [] } = await api.ask("GET", `/agents?search=${assistantId}`, signal)
  const named = agents.find(({ name }: Json) => String(name).endsWith(`[${assistantId}]`))
  return named ? api.find("GET", `/agents/${named.agent_id}`, signal) : null
}

const toolIdsOf = (agent: Json | null): string[] => agent?.conversation_config?.agent?.prompt?.tool_ids ?? []

/** Updates the tools that an agent has, and creates those that it lacks; returns their IDs. */
async function provisionTools(api: ElevenLabsApi, settings: VoiceAgentSettings, known: string[], signal: AbortSignal): Promise<string[]> {
  const { tools = [], assistantId } = settings
  if (tools.length === 0) return []
  const secretId = await secretOf(api, `tools of ${assistantId}`, tools[0]!.secret, signal)
  const ids: string[] = []
  for (const [index, tool] of tools.entries()) {
    const before = known[index]
    const updated = before && (await api.find("PATCH", `/tools/${before}`, signal, toolConfig(tool, secretId)))
    ids.push(updated ? before : String((await api.ask("POST", "/tools", signal, toolConfig(tool, secretId))).id))
  }
  return ids
}

/** The vendor's ID of a secret, which is created once. It shows no values: the name has the value's fingerprint, so that a new value is noticed. */
async function secretOf(api: ElevenLabsApi, use: string, value: string, signal: AbortSignal): Promise<string> {
  const name = `${use} ${createHash("sha256").update(value).digest("hex").slice(0, 12)}`
  const { secrets = [] } = await api.ask("GET", "/secrets", signal)
  const known = secrets.find((secret: Json) => secret.name === name)
  return String(known?.secret_id ?? (await api.ask("POST", "/secrets", signal, { type: "new", name, value })).secret_id)
}
