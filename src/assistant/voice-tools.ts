import { createHmac } from "node:crypto"
import type { RequestContext } from "../context/request-context.js"
import type { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { setChatTags, turnOffAiMode } from "../entities/kit/system-tools.js"
import type { VoiceTool } from "../ports/voice.js"
import { assistantLimits } from "./limits.js"
import { type OfferedTool, toolsOf } from "./tools.js"

/** Tools that need a chat. */
const chatTools: string[] = [turnOffAiMode.name, setChatTags.name]

/** Whether a tool may be called on a voice call. */
export const isOnCalls = ({ isSystem, declaration }: OfferedTool) => !(isSystem && chatTools.includes(declaration.name))

/** The tools that an agent at a provider calls at this server; none without a public address. */
export async function voiceToolsOf(tx: RequestContext, assistant: Assistant, provider: string): Promise<VoiceTool[]> {
  const { config, secrets } = tx.services
  if (!config.publicUrl) return []
  const offered = (await toolsOf(tx.unit, assistant)).filter(isOnCalls)
  const rows = await tx.em.find(AssistantTool, { id: { $in: offered.map(({ id }) => id) } })
  const timeouts = new Map(rows.map(({ id, timeoutSeconds }) => [id, timeoutSeconds]))
  return offered.map(({ id, declaration }) => ({
    id,
    name: declaration.name,
    description: declaration.description,
    parameters: declaration.parameters as Record<string, unknown>,
    timeoutSeconds: (timeouts.get(id) ?? 0) + assistantLimits.voiceToolMarginSeconds,
    url: `${config.publicUrl}/hooks/voice/${provider}/tools/${id}`,
    secret: voiceToolSecret(secrets.encryptionKey, assistant.id).toString("hex"),
  }))
}

/** The secret of an assistant's tools at a provider; it is derived, so that it is stored nowhere. */
export const voiceToolSecret = (key: Buffer, assistantId: string) => createHmac("sha256", key).update(`voice-tools:${assistantId}`).digest()
