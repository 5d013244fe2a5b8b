import { LockMode } from "@mikro-orm/postgresql"
import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Assistant, type VoiceTask } from "../entities/assistant.js"
import type { Failure } from "../entities/kit/work-state.js"
import { type VoiceAgentSettings, VoiceFailure } from "../ports/voice.js"
import { assistantLimits } from "./limits.js"
import { freeChats, removeAssistant } from "./removal.js"

/** What a worker has claimed to do about a voice agent. */
interface ClaimedTask {
  task: VoiceTask
  /** Whether the assistant is being deleted. */
  isTerminating: boolean
  /** The provider that is to be asked, by its name. */
  provider: string
  agent: { assistantId: string; agentId: string | null }
  /** What the agent is to be; null when it is to go. */
  wish: VoiceAgentSettings | null
}

/** In the transaction that claims it: what is next about the voice agent of an assistant, and what the provider is to be told. */
export function beginVoiceTask(_tx: RequestContext, assistant: Assistant): ClaimedTask | null {
  const task = assistant.beginVoiceTask()
  if (!task) return null
  const { id: assistantId, isTerminating, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
  const wish = task === "provision" ? wishOf(assistant) : null
  return { task, isTerminating, provider: provider!, agent: { assistantId, agentId }, wish }
}

/** Does what is next about the voice agent of an assistant. */
export async function workOnVoiceAgent(lease: Lease<Assistant>, claimed: ClaimedTask): Promise<void> {
  const { context, id } = lease
  if (claimed.task === "remove") return removeAssistant(context, id)
  // The process that began the deletion may have died before it freed all chats: they do not wait for the provider.
  if (claimed.isTerminating) await freeChats(context, id)
  const provider = providerOf(context, claimed)
  if (!provider) throw new VoiceFailure(notConfigured(claimed.provider))
  // Not the lease's signal: an agent that is made although the lease was lost has to be known, to be torn down.
  const signal = AbortSignal.any([AbortSignal.timeout(assistantLimits.voiceProviderMs), context.services.stopping])
  if (!claimed.wish) {
    await provider.tearDown(claimed.agent, signal)
    await lease.store((assistant) => assistant.voiceTornDown())
    return
  }
  const agentId = await provider.provision(claimed.wish, signal)
  if (await lease.store((assistant) => assistant.voiceProvisioned(agentId))) return
  // Another worker may have torn the agent down before it was made: nothing else would remove it.
  const assistant = await context.transaction((tx) => tx.em.findOne(Assistant, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }))
  if (assistant?.voiceAgentProvider !== provider.name) await provider.tearDown({ ...claimed.agent, agentId }, signal)
}

const providerOf = (context: RequestContext, { provider }: ClaimedTask) => context.services.voices.find(({ name }) => name === provider)

function wishOf(assistant: Assistant): VoiceAgentSettings {
  const { provider: _asked, firstMessage, ...voice } = assistant.vaRegistration!
  return {
    ...voice,
    assistantId: assistant.id,
    agentId: assistant.voiceAgentId,
    name: assistant.name,
    instructions: assistant.prompt,
    firstMessage: firstMessage ?? assistant.greeting,
    language: assistant.language,
  }
}

/** The error for a provider that this deployment does not have. */
const notConfigured = (provider: string) => `The voice provider "${provider}" is not configured`

/** Logs why a task failed. Making an agent has a number of tries; removing one is tried until it succeeds, or its provider is not configured any more. */
export function voiceFailure(context: RequestContext, error: unknown, claimed: ClaimedTask): Failure {
  const { log } = context.request
  const { provider, task } = claimed
  const known = error instanceof VoiceFailure ? error : null
  if (known) log.warn({ provider, task, reason: known.message }, "the voice provider did not do it")
  else log.error({ err: error, provider, task }, "work on a voice agent failed")
  const reason = known?.message ?? (task === "remove" ? "The assistant could not be removed" : "The voice provider could not be asked")
  if (task === "provision") return known?.isFinal ? { reason, tries: 1 } : { reason }
  return task === "tearDown" && !providerOf(context, claimed) ? { reason } : { reason, tries: Number.POSITIVE_INFINITY }
}

/** No further try: the agent has failed, or is left behind at a provider that is not configured any more. */
export function giveVoiceUp(assistant: Assistant, { request: { log } }: RequestContext) {
  if (assistant.voiceTask() !== "tearDown") return assistant.voiceFailed()
  const { id: assistantId, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
  log.error({ provider, assistantId, agentId }, "an agent is left behind at a voice provider that is not configured any more")
  assistant.voiceTornDown()
}
