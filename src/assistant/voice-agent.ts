import { LockMode } from "@mikro-orm/postgresql"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { Assistant, type VoiceWork } from "../entities/assistant.js"
import { entityLimits } from "../entities/limits.js"
import { type VoiceAgentSettings, VoiceFailure } from "../ports/voice.js"
import { assistantLimits } from "./limits.js"
import { freeChats, removeAssistant } from "./removal.js"

/** Work on a voice agent that this worker has taken. */
interface Taken extends VoiceWork {
  /** Whether the assistant is being deleted. */
  isTerminating: boolean
  /** The provider that is to be asked, by its name. */
  provider: string
  agent: { assistantId: string; agentId: string | null }
  /** What the agent is to be; null when it is to go. */
  wish: VoiceAgentSettings | null
}

/** Does what is next about the voice agent of an assistant; nothing when nothing is due, or when another worker has taken it. */
export async function workOnVoiceAgent(services: Services, companyId: string, assistantId: string): Promise<void> {
  const context = systemContext(services, companyId, services.log.child({ assistantId }))
  const work = await take(context, assistantId)
  if (!work) return
  if (work.task === "remove") return removeAssistant(context, assistantId)
  // Whoever asked for the deletion may have died before all were: no provider is waited for with an assistant that still answers.
  if (work.isTerminating) await freeChats(context, assistantId)
  try {
    await ask(context, work, AbortSignal.any([AbortSignal.timeout(assistantLimits.voiceProviderMs), services.stopping]))
  } catch (error) {
    if (services.stopping.aborted) await note(context, work, (assistant) => assistant.releaseVoiceWork())
    else await fail(context, work, error)
  }
}

const locked = (tx: RequestContext, id: string) => tx.em.findOne(Assistant, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Takes the work under a lease, and reads in the same transaction what the provider is to be told. */
function take(context: RequestContext, assistantId: string): Promise<Taken | null> {
  return context.transaction(async (tx) => {
    const assistant = await locked(tx, assistantId)
    const work = assistant?.takeVoiceWork()
    if (!assistant || !work) return null
    const { isTerminating, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
    const wish = work.task === "provision" ? wishOf(assistant) : null
    return { ...work, isTerminating, provider: provider!, agent: { assistantId, agentId }, wish }
  })
}

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

/** Notes what came of the work, behind the fence; answers which provider has the agent now. */
function note(context: RequestContext, work: Taken, noted: (assistant: Assistant) => void): Promise<string | null> {
  return context.transaction(async (tx) => {
    const assistant = await locked(tx, work.agent.assistantId)
    if (assistant?.holdsVoiceWork(work.id)) noted(assistant)
    return assistant?.voiceAgentProvider ?? null
  })
}

/** Asks the provider, outside of any transaction, and notes its answer. */
async function ask(context: RequestContext, work: Taken, signal: AbortSignal): Promise<void> {
  const provider = context.services.voices.find((each) => each.name === work.provider)
  if (!provider) throw new VoiceFailure(notConfigured(work.provider))
  if (!work.wish) {
    await provider.tearDown(work.agent, signal)
    await note(context, work, (assistant) => assistant.voiceTornDown())
    return
  }
  const agentId = await provider.provision(work.wish, signal)
  const has = await note(context, work, (assistant) => assistant.voiceProvisioned(agentId))
  // The lease was lost and another worker has torn down what came to be only now: nobody would look for it again.
  if (has !== provider.name) await provider.tearDown({ ...work.agent, agentId }, signal)
}

/** What is said of a provider that this deployment does not have. */
export const notConfigured = (provider: string) => `The voice provider "${provider}" is not configured`

async function fail(context: RequestContext, work: Taken, error: unknown): Promise<void> {
  const { log } = context.request
  const { provider, task } = work
  const isAnswer = error instanceof VoiceFailure
  if (isAnswer) log.warn({ provider, task, reason: error.message }, "the voice provider did not do it")
  else log.error({ err: error, provider, task }, "work on a voice agent failed")
  const isGone = !context.services.voices.some((each) => each.name === provider)
  await note(context, work, (assistant) => {
    if (task === "tearDown" && isGone && assistant.voiceFailures + 1 >= entityLimits.voiceTries) {
      // Nobody here can reach it any more: it must not hold up the assistant for ever.
      log.error({ provider, ...work.agent }, "an agent is left behind at a voice provider that is not configured any more")
      assistant.voiceTornDown()
    } else assistant.voiceFailed(isAnswer ? error.message : "The voice provider could not be asked", isAnswer && error.isFinal)
  })
}
