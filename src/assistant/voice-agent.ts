import { LockMode } from "@mikro-orm/postgresql"
import { Assistant, type VoiceWork } from "../entities/assistant.js"
import { limits } from "../limits.js"
import { type VoiceAgentWish, VoiceFailure } from "../ports/voice.js"
import type { Services } from "../schema/kit/services.js"
import { systemViewer, type Viewer } from "../schema/kit/viewer.js"
import { freeChats, removeAssistant } from "./removal.js"

/** Work on a voice agent that this worker has taken. */
interface Taken extends VoiceWork {
  /** Whether the assistant is being deleted. */
  isTerminating: boolean
  /** The provider that is to be asked, by its name. */
  provider: string
  agent: { assistantId: string; agentId: string | null }
  /** What the agent is to be; null when it is to go. */
  wish: VoiceAgentWish | null
}

/** Does what is next about the voice agent of an assistant; nothing when nothing is due, or when another worker has taken it. */
export async function workOnVoiceAgent(services: Services, companyId: string, assistantId: string): Promise<void> {
  const viewer = systemViewer(services, companyId, services.log.child({ assistantId }))
  const work = await take(viewer, assistantId)
  if (!work) return
  if (work.task === "remove") return removeAssistant(viewer, assistantId)
  // Whoever asked for the deletion may have died before all were: no provider is waited for with an assistant that still answers.
  if (work.isTerminating) await freeChats(viewer, assistantId)
  try {
    await ask(viewer, work, AbortSignal.any([AbortSignal.timeout(limits.voiceProviderMs), services.stopping]))
  } catch (error) {
    if (services.stopping.aborted) await note(viewer, work, (assistant) => assistant.releaseVoiceWork())
    else await fail(viewer, work, error)
  }
}

const locked = (within: Viewer, id: string) => within.em.findOne(Assistant, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Takes the work under a lease, and reads in the same transaction what the provider is to be told. */
function take(viewer: Viewer, assistantId: string): Promise<Taken | null> {
  return viewer.change(async (within) => {
    const assistant = await locked(within, assistantId)
    const work = assistant?.takeVoiceWork()
    if (!assistant || !work) return null
    const { isTerminating, voiceAgentProvider: provider, voiceAgentId: agentId } = assistant
    const wish = work.task === "provision" ? wishOf(assistant) : null
    return { ...work, isTerminating, provider: provider!, agent: { assistantId, agentId }, wish }
  })
}

function wishOf(assistant: Assistant): VoiceAgentWish {
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
function note(viewer: Viewer, work: Taken, noted: (assistant: Assistant) => void): Promise<string | null> {
  return viewer.change(async (within) => {
    const assistant = await locked(within, work.agent.assistantId)
    if (assistant?.holdsVoiceWork(work.id)) noted(assistant)
    return assistant?.voiceAgentProvider ?? null
  })
}

/** Asks the provider, outside of any transaction, and notes its answer. */
async function ask(viewer: Viewer, work: Taken, signal: AbortSignal): Promise<void> {
  const provider = viewer.services.voices.find((each) => each.name === work.provider)
  if (!provider) throw new VoiceFailure(notConfigured(work.provider))
  if (!work.wish) {
    await provider.tearDown(work.agent, signal)
    await note(viewer, work, (assistant) => assistant.voiceTornDown())
    return
  }
  const agentId = await provider.provision(work.wish, signal)
  const has = await note(viewer, work, (assistant) => assistant.voiceProvisioned(agentId))
  // The lease was lost and another worker has torn down what came to be only now: nobody would look for it again.
  if (has !== provider.name) await provider.tearDown({ ...work.agent, agentId }, signal)
}

/** What is said of a provider that this deployment does not have. */
const notConfigured = (provider: string) => `The voice provider "${provider}" is not configured`

async function fail(viewer: Viewer, work: Taken, error: unknown): Promise<void> {
  const { log } = viewer.request
  const { provider, task } = work
  const isAnswer = error instanceof VoiceFailure
  if (isAnswer) log.warn({ provider, task, reason: error.message }, "the voice provider did not do it")
  else log.error({ err: error, provider, task }, "work on a voice agent failed")
  const isGone = !viewer.services.voices.some((each) => each.name === provider)
  await note(viewer, work, (assistant) => {
    if (task === "tearDown" && isGone && assistant.voiceFailures + 1 >= limits.voiceTries) {
      // Nobody here can reach it any more: it must not hold up the assistant for ever.
      log.error({ provider, ...work.agent }, "an agent is left behind at a voice provider that is not configured any more")
      assistant.voiceTornDown()
    } else assistant.voiceFailed(isAnswer ? error.message : "The voice provider could not be asked", isAnswer && error.isFinal)
  })
}
