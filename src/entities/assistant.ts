import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { ObjectType } from "type-graphql"
import { BadUserInput } from "../errors.js"
import { AssistantRow, type VoiceAgentStatus } from "./assistant-row.js"
import { AssistantTool } from "./assistant-tool.js"
import { clock } from "./kit/clock.js"
import { type SystemTool, systemTools } from "./kit/system-tools.js"
import type { VaRegistration } from "./kit/va-registration.js"
import { doubling, type Retry } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"

/** What is next to be done about a voice agent: one request to its provider, or the end of an assistant that has none any more. */
export type VoiceTask = "provision" | "tearDown" | "remove"

/** What a voice agent is made of besides the registration. */
export const spokenFields = ["name", "prompt", "greeting", "language"] as const

const later = (ms: number) => new Date(clock.now().getTime() + ms)

/** Retry schedule of work on voice agents. */
const voiceRetry: Retry = {
  tries: entityLimits.voiceTries,
  pauseMs: doubling(entityLimits.voiceRetryBaseMs, entityLimits.voiceRetryMaxMs),
}

@ObjectType({ description: "An AI assistant that answers the customers of a company in chats and calls." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "assistant_recency", expression: "create index assistant_recency on assistant (company_id, updated_at desc, id desc)" })
@Index({
  name: "assistant_voice_due",
  expression: "create index assistant_voice_due on assistant (voice_due_at) where voice_due_at is not null",
})
@Index({
  name: "assistant_voice_lease",
  expression: "create index assistant_voice_lease on assistant (voice_lease_until) where voice_lease_until is not null",
})
export class Assistant extends AssistantRow {
  /** A new one, with its system tools; MikroORM creates stored ones without this constructor. */
  constructor(tools: readonly SystemTool[] = systemTools) {
    super()
    this.alsoInTransaction(async (em) => {
      em.persist(tools.map((tool) => AssistantTool.builtIn(this.companyId, this.id, tool)))
      return []
    })
  }

  /** Whether a chat can be given to it: a draft answers nobody, and neither does one that is being deleted. */
  get isAssignable() {
    return !this.isDraft && !this.isTerminating
  }

  mustBeAssignable() {
    this.mustStay()
    if (this.isDraft) throw new BadUserInput("A draft assistant cannot be assigned to a chat")
  }

  get isTerminating() {
    return this.voiceAgentStatus === "terminating"
  }

  /** Throws for an assistant that is being deleted: it takes no change any more. */
  mustStay() {
    if (this.isTerminating) throw new BadUserInput("This assistant is being deleted")
  }

  /** Makes it a variant of another assistant, which must be the company's and no draft itself. */
  varies(original: Assistant | null) {
    if (!this.isDraft) throw new BadUserInput("draftOfId needs isDraft: true", [{ path: "draftOfId", message: "needs isDraft: true" }])
    if (!original || original.isDraft)
      throw new BadUserInput("draftOfId must name an assistant of the company that is no draft", [
        { path: "draftOfId", message: "must name an assistant of the company that is no draft" },
      ])
    this.draftOfId = original.id
  }

  /** A new one with the same settings, and without tools as yet. Its voice is not among them: that is an agent of its own. */
  copied(name: string): Assistant {
    const { companyId, folderId, prompt, greeting, language, textModelId, temperature, excludedTags, isDraft, draftOfId } = this
    const settings = { companyId, folderId, prompt, greeting, language, textModelId, temperature, excludedTags, isDraft, draftOfId }
    return Object.assign(new Assistant([]), settings, { name })
  }

  /** Gives it a voice, another voice, or none: its agent follows in the background. */
  speakAs(registration: VaRegistration | null) {
    this.vaRegistration = registration
    this.voiceAgentStatus = registration ? "provisioning" : "none"
    this.expectVoiceWork()
  }

  /** Something that its agent is made of has changed: the agent follows, and can be spoken to meanwhile. */
  resyncVoice() {
    if (!this.vaRegistration) return
    if (this.voiceAgentStatus === "failed") this.voiceAgentStatus = "provisioning"
    this.expectVoiceWork()
  }

  /** Whether a voice provider has something of it, or is to have. */
  get hasVoice() {
    return this.vaRegistration !== null || this.voiceAgentProvider !== null
  }

  /** Begins its deletion: it takes no chat and no change any more. A voice agent is torn down first. */
  terminate() {
    if (this.isTerminating) return
    this.voiceAgentStatus = "terminating"
    // Without an agent the request removes it at once; should its process die, the work is due when a lease would be over.
    this.expectVoiceWork(this.hasVoice ? clock.now() : later(entityLimits.voiceLeaseMs))
  }

  /** Work on its agent is due if there is any; earlier failures do not count. */
  private expectVoiceWork(at = clock.now()) {
    this.voiceAgentError = null
    this.voice.failures = 0
    this.voice.dueAt = null
    if (this.voiceTask()) this.expectWork(this.voice, at)
  }

  /** The next task. An agent that is not wanted is torn down first, since an assistant has one agent at most. */
  voiceTask(): VoiceTask | null {
    const wanted = this.isTerminating ? null : (this.vaRegistration?.provider ?? null)
    if (this.voiceAgentProvider && this.voiceAgentProvider !== wanted) return "tearDown"
    if (wanted) return "provision"
    return this.isTerminating ? "remove" : null
  }

  /** Begins work on its agent, which does not move `updatedAt`; returns the task, null when there is none. */
  beginVoiceTask(): VoiceTask | null {
    this.changesUnseen()
    const task = this.voiceTask()
    // Stored before the provider is asked: should this process die meanwhile, the agent can still be torn down.
    if (task === "provision") this.voiceAgentProvider = this.vaRegistration!.provider
    return task
  }

  /** The provider has made the agent, or brought it up to date. */
  voiceProvisioned(agentId: string) {
    this.changesUnseen()
    this.voiceAgentError = null
    this.voiceAgentId = agentId
    // Changed meanwhile: it is ready only after the next run.
    if (!this.voice.dueAt) this.showVoice("ready")
  }

  /** The provider has removed the agent; the next task is due now. */
  voiceTornDown() {
    this.changesUnseen()
    this.voiceAgentError = this.voiceAgentProvider = this.voiceAgentId = null
    if (this.voiceTask()) this.voice.dueAt = clock.now()
  }

  /** The provider refused: when it is asked again. Null when the assistant was changed meanwhile: the change has tries of its own. */
  retryVoice(reason: string): Retry | null {
    this.voiceAgentError = reason
    return this.voice.dueAt ? null : voiceRetry
  }

  /** The agent cannot be made; nobody tries it again before something changes. */
  voiceFailed() {
    this.showVoice("failed")
  }

  private showVoice(status: VoiceAgentStatus) {
    if (status === this.voiceAgentStatus) return
    this.changesSeen()
    this.voiceAgentStatus = status
  }
}
