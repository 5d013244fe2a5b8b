import { createHash } from "node:crypto"
import { LockMode } from "@mikro-orm/postgresql"
import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Assistant, type VoiceTask } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import { onLine } from "../entities/kit/call-words.js"
import type { VaRegistration } from "../entities/kit/va-registration.js"
import type { Failure } from "../entities/kit/work-state.js"
import { type VoiceAgentSettings, VoiceFailure } from "../ports/voice.js"
import { assistantLimits } from "./limits.js"
import { freeChats, removeAssistant } from "./removal.js"
import { voiceToolsOf } from "./voice-tools.js"

/** A task of a voice agent that a worker has claimed. */
interface ClaimedTask {
  task: VoiceTask
  /** Whether the assistant is being deleted. */
  isTerminating: boolean
  /** Name of the provider to call. */
  provider: string
  agent: { assistantId: string; agentId: string | null }
  /** Settings of the agent; null when it is to be removed. */
  settings: VoiceAgentSettings | null
  /** Hash of the settings. */
  hash: string
  /** Whether the provider has confirmed them: nothing is sent. */
  isCurrent: boolean
}

/** Claims the next task of a voice agent, with the input for its provider; null when there is none. */
export async function beginVoiceTask(tx: RequestContext, assistant: Assistant): Promise<ClaimedTask | null> {
  const task = assistant.beginVoiceTask()
  if (!task) return null
  const { id: assistantId, isTerminating, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
  const settings = task === "provision" ? await settingsOf(tx, assistant) : null
  const hash = hashOf(provider!, settings)
  const isCurrent = settings !== null && assistant.hasVoiceSettings(hash)
  return { task, isTerminating, provider: provider!, agent: { assistantId, agentId }, settings, hash, isCurrent }
}

/** The same for the same settings, whatever ID the provider gave the agent. */
const hashOf = (provider: string, settings: VoiceAgentSettings | null) =>
  createHash("sha256")
    .update(JSON.stringify({ provider, ...settings, agentId: null }))
    .digest("hex")

/** Runs the claimed task of a voice agent. */
export async function workOnVoiceAgent(lease: Lease<Assistant>, claimed: ClaimedTask): Promise<void> {
  const { context, id } = lease
  const { hash } = claimed
  if (claimed.task === "remove") return removeAssistant(context, id)
  // The process that started the deletion may have stopped before it freed all chats, which must not wait for the provider.
  if (claimed.isTerminating) await freeChats(context, id)
  const provider = providerOf(context, claimed)
  if (!provider) throw new VoiceFailure(notConfigured(claimed.provider))
  // Not the lease's signal: if the lease is lost, the ID of a new agent is still needed to remove it.
  const signal = AbortSignal.any([AbortSignal.timeout(assistantLimits.voiceProviderMs), context.services.stopping])
  if (!claimed.settings) {
    if (await hasLiveCalls(context, id, claimed.provider))
      return void (await lease.store((assistant) => assistant.voiceWaits(assistantLimits.liveCallsPollMs)))
    await provider.tearDown(claimed.agent, signal)
    await lease.store((assistant) => assistant.voiceTornDown())
    return
  }
  const agentId = claimed.isCurrent ? claimed.agent.agentId! : await provider.provision(claimed.settings, signal)
  if (await lease.store((assistant) => assistant.voiceProvisioned(agentId, hash))) return
  const isWanted = await context.transaction(async (tx) => {
    const assistant = await tx.em.findOne(Assistant, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    // This request may have ended after a newer one, and changed its settings back.
    assistant?.forgetVoiceSettings()
    assistant?.resyncVoice()
    return assistant?.voiceAgentProvider === provider.name
  })
  // Another worker may have run the removal before this agent was created: nothing else would remove it.
  if (!isWanted) await provider.tearDown({ ...claimed.agent, agentId }, signal)
}

/** Whether calls use the voice agent: it is removed when they have ended. */
const hasLiveCalls = async (context: RequestContext, assistantId: string, provider: string) =>
  (await context.transaction((tx) => tx.em.count(Call, { assistantId, provider, status: { $in: [...onLine] } }))) > 0

const providerOf = (context: RequestContext, { provider }: ClaimedTask) => context.services.voices.find(({ name }) => name === provider)

/** Voice settings of an assistant that has none. */
const onDemand: Partial<VaRegistration> & Omit<VaRegistration, "provider" | "firstMessage"> = {
  voiceId: null,
  phoneNumber: null,
  interruptible: true,
  ...assistantLimits.voiceDefaults,
}

async function settingsOf(tx: RequestContext, assistant: Assistant): Promise<VoiceAgentSettings> {
  const model = tx.services.models.find(({ id }) => id === assistant.textModelId)
  const { provider = assistant.voiceAgentProvider!, firstMessage = null, ...voice } = assistant.vaRegistration ?? onDemand
  return {
    ...voice,
    assistantId: assistant.id,
    agentId: assistant.voiceAgentId,
    name: assistant.name,
    instructions: assistant.prompt,
    firstMessage: firstMessage ?? assistant.greeting,
    language: assistant.language,
    model: model && model.provider !== "offline" ? model.name : null,
    temperature: assistant.temperature,
    tools: await voiceToolsOf(tx, assistant, provider),
  }
}

/** The error for a provider that is not configured. */
const notConfigured = (provider: string) => `The voice provider "${provider}" is not configured`

/** Logs why a task failed. Creation has limited tries; removal is retried until it succeeds or its provider is no longer configured. */
export function voiceFailure(context: RequestContext, error: unknown, claimed: ClaimedTask): Failure {
  const { log } = context.request
  const { provider, task } = claimed
  const known = error instanceof VoiceFailure ? error : null
  if (known) log.warn({ provider, task, reason: known.message }, "the request to the voice provider failed")
  else log.error({ err: error, provider, task }, "work on a voice agent failed")
  const reason = known?.message ?? (task === "remove" ? "The assistant could not be removed" : "The voice provider could not be reached")
  if (task === "provision") return known?.isFinal ? { reason, tries: 1 } : { reason }
  return task === "tearDown" && !providerOf(context, claimed) ? { reason } : { reason, tries: Number.POSITIVE_INFINITY }
}

/** Gives up: the agent is marked as failed, or stays at a provider that is no longer configured. */
export function giveVoiceUp(assistant: Assistant, { request: { log } }: RequestContext) {
  if (assistant.voiceTask() !== "tearDown") return assistant.voiceFailed()
  const { id: assistantId, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
  log.error({ provider, assistantId, agentId }, "an agent remains at a voice provider that is no longer configured")
  assistant.voiceTornDown()
}
