import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import type { VoiceAgentSettings, VoiceProvider } from "../ports/voice.js"
import { agentOfCall } from "./agent.js"
import { agentTools } from "./agent-tools.js"
import { assistantOfCall } from "./conversation.js"

/**
 * Creates the agent of an assistant without voice settings, when its provider needs one and its first call is dialed. It is removed with the
 * assistant, and when the assistant gets voice settings of another provider.
 */
export async function ensureAgent(context: RequestContext, callId: string, provider: VoiceProvider, signal: AbortSignal): Promise<void> {
  if (!provider.capabilities.agents) return
  const settings = await context.transaction((tx) => missingAgent(tx, callId, provider))
  if (!settings) return
  const agentId = await provider.provision(settings, signal)
  await context.transaction(async (tx) => {
    const assistant = await tx.em.findOne(Assistant, { id: settings.assistantId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    assistant?.agentCreatedOnDemand(agentId)
  })
}

/** The settings of the agent to create; null when the assistant has one, or has voice settings of its own. The provider is noted first. */
async function missingAgent(tx: RequestContext, callId: string, provider: VoiceProvider): Promise<VoiceAgentSettings | null> {
  const call = await tx.em.findOne(Call, { id: callId })
  const speaker = call && (await assistantOfCall(tx, call))
  if (!speaker) return null
  const assistant = await tx.find(Assistant, speaker.assistant.id)
  if (!assistant.needsAgentOnDemand(provider.name)) return null
  return { ...agentOfCall(speaker, provider), tools: await agentTools(tx, assistant) }
}
