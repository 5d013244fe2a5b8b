import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { AssistantMcpTool } from "./assistant-mcp-tool.js"
import { AssistantRow, type VoiceAgentStatus } from "./assistant-row.js"
import { AssistantTool } from "./assistant-tool.js"
import { Audited } from "./kit/audited.js"
import { clock } from "./kit/clock.js"
import { GuardrailSettings } from "./kit/guardrail-settings.js"
import { type SystemTool, systemTools } from "./kit/system-tools.js"
import type { VaRegistration } from "./kit/va-registration.js"
import { doubling, type Retry } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"

/** The next task of voice work: a request to the voice provider, or the deletion of an assistant whose voice agent is gone. */
export type VoiceTask = "provision" | "tearDown" | "remove"

/** Assistant fields that the voice agent uses, besides the voice settings. */
export const spokenFields = ["name", "prompt", "greeting", "language", "textModelId", "temperature"] as const

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
  expression: "create index assistant_voice_due on assistant (company_id, voice_due_at) where voice_due_at is not null",
})
@Index({
  name: "assistant_voice_lease",
  expression: "create index assistant_voice_lease on assistant (voice_lease_until) where voice_lease_until is not null",
})
@Audited<Assistant>({
  internal: ["voiceAgentStatus", "voiceAgentError", "voiceAgentProvider", "voiceAgentId", "voiceAgentHash", "voiceOnDemand", "voice"],
  names: { guardrailSettings: "guardrails" },
  isBeingDeleted: ({ voiceAgentStatus }) => voiceAgentStatus === "terminating",
})
export class Assistant extends AssistantRow {
  @Field(() => [AssistantMcpTool], { description: "Tools of all MCP servers of the company, each with its state for the assistant." })
  mcpTools?: AssistantMcpTool[]

  @Field(() => GuardrailSettings, { description: "Rules about the customers' messages and the answers." })
  guardrails?: GuardrailSettings

  /** Creates an assistant with its system tools; MikroORM does not call this constructor for stored rows. */
  constructor(tools: readonly SystemTool[] = systemTools) {
    super()
    this.alsoInTransaction(async (em) => {
      em.persist(tools.map((tool) => AssistantTool.builtIn(this.companyId, this.id, tool)))
      return []
    })
  }

  /** Whether the assistant can be assigned to a chat: a draft, and an assistant that is being deleted, cannot. */
  get isAssignable() {
    return !this.isDraft && !this.isTerminating
  }

  mustBeAssignable() {
    this.refuseWhileDeleted()
    if (this.isDraft) throw new BadUserInput("A draft assistant cannot be assigned to a chat")
  }

  get isTerminating() {
    return this.voiceAgentStatus === "terminating"
  }

  /** Throws when the assistant is being deleted, because it then accepts no changes. */
  refuseWhileDeleted() {
    if (this.isTerminating) throw new BadUserInput("This assistant is being deleted")
  }

  /** Makes this draft a variant of another assistant of the company that is not a draft. */
  becomeVariantOf(original: Assistant | null) {
    if (!this.isDraft) throw new BadUserInput("draftOfId needs isDraft: true", [{ path: "draftOfId", message: "needs isDraft: true" }])
    if (!original || original.isDraft)
      throw new BadUserInput("draftOfId must name an assistant of the company that is not a draft", [
        { path: "draftOfId", message: "must name an assistant of the company that is not a draft" },
      ])
    this.draftOfId = original.id
  }

  /** Returns a new assistant with the same settings, but without tools and voice settings: a voice agent belongs to one assistant. */
  copied(name: string): Assistant {
    const { companyId, folderId, prompt, greeting, handOffMessage, language, textModelId, temperature, excludedTags, isDraft, draftOfId } =
      this
    const model = { prompt, greeting, handOffMessage, language, textModelId, temperature, excludedTags }
    const settings = { companyId, folderId, ...model, guardrailSettings: this.guardrailSettings, isDraft, draftOfId }
    return Object.assign(new Assistant([]), settings, { name })
  }

  /** Sets, changes or removes the voice settings; the voice agent is updated in the background. */
  setVoice(registration: VaRegistration | null) {
    this.vaRegistration = registration
    this.voiceOnDemand = false
    this.voiceAgentStatus = registration ? "provisioning" : "none"
    this.expectVoiceWork()
  }

  /** Schedules an update of the voice agent after a change of a field that it uses; the agent takes calls meanwhile. */
  resyncVoice() {
    if (!this.vaRegistration && !this.voiceOnDemand) return
    if (this.voiceAgentStatus === "failed") this.voiceAgentStatus = "provisioning"
    this.expectVoiceWork()
  }

  /** Schedules an update of the voice agent after a change of a tool, which is no change of the assistant. */
  toolsChanged() {
    this.keepUpdatedAt()
    this.resyncVoice()
  }

  /** Puts the removal of the voice agent off, because a call still uses it. */
  voiceWaits(ms: number) {
    this.keepUpdatedAt()
    this.voice.dueAt = later(ms)
  }

  /** Requests a voice agent for calls of an assistant without voice settings; it is removed with the assistant. */
  wantAgentOnDemand(provider: string) {
    const isFree = this.voiceAgentProvider === null || this.voiceAgentProvider === provider
    if (this.vaRegistration || this.voiceOnDemand || !isFree) return
    this.keepUpdatedAt()
    this.voiceAgentProvider = provider
    this.voiceOnDemand = true
    this.expectVoiceWork()
  }

  /** Whether the assistant has voice settings, or a voice agent at a provider. */
  get hasVoice() {
    return this.vaRegistration !== null || this.voiceAgentProvider !== null
  }

  /** Begins the deletion: from now on the assistant takes no chats and no changes. Its voice agent is removed first. */
  terminate() {
    if (this.isTerminating) return
    this.voiceAgentStatus = "terminating"
    // Without a voice agent the request itself deletes the row; the delayed work deletes it if the server stops before that.
    this.expectVoiceWork(this.hasVoice ? clock.now() : later(entityLimits.voiceLeaseMs))
  }

  /** Schedules the next voice task, if there is one, and resets the failures. */
  private expectVoiceWork(at = clock.now()) {
    this.voiceAgentError = null
    this.voice.failures = 0
    this.voice.dueAt = null
    if (this.voiceTask()) this.expectWork(this.voice, at)
  }

  /** The next task. An unwanted voice agent is removed first, because an assistant has at most one. */
  voiceTask(): VoiceTask | null {
    const wanted = this.isTerminating ? null : (this.vaRegistration?.provider ?? (this.voiceOnDemand ? this.voiceAgentProvider : null))
    if (this.voiceAgentProvider && this.voiceAgentProvider !== wanted) return "tearDown"
    if (wanted) return "provision"
    return this.isTerminating ? "remove" : null
  }

  /** Starts the next voice task without changing `updatedAt`; returns null when there is none. */
  beginVoiceTask(): VoiceTask | null {
    this.keepUpdatedAt()
    const task = this.voiceTask()
    // Stored before the request: if the server stops during the request, the agent can still be removed.
    if (task === "provision" && this.vaRegistration) this.voiceAgentProvider = this.vaRegistration.provider
    return task
  }

  /** Whether the provider has confirmed an agent with these settings. Where it has not, none counts as confirmed until the next answer. */
  hasVoiceSettings(hash: string): boolean {
    if (this.voiceAgentId && this.voiceAgentHash === hash) return true
    this.voiceAgentHash = null
    return false
  }

  /** Stores that the provider created or updated the voice agent, with settings that have this hash. */
  voiceProvisioned(agentId: string, hash: string) {
    this.keepUpdatedAt()
    this.voiceAgentError = null
    this.voiceAgentId = agentId
    this.voiceAgentHash = hash
    // The assistant changed meanwhile: the voice agent is ready only after the next run.
    if (!this.voice.dueAt && this.vaRegistration) this.showVoice("ready")
  }

  /** Notes that the settings of the agent are not known any more: the next update sends them, also when they are the same. */
  forgetVoiceSettings() {
    this.keepUpdatedAt()
    this.voiceAgentHash = null
  }

  /** Stores that the provider removed the voice agent; the next task is due at once. */
  voiceTornDown() {
    this.keepUpdatedAt()
    this.voiceAgentError = this.voiceAgentProvider = this.voiceAgentId = this.voiceAgentHash = null
    if (this.voiceTask()) this.voice.dueAt = clock.now()
  }

  /** Stores the error and returns the retry schedule; null when the assistant changed meanwhile, because the change has its own tries. */
  retryVoice(reason: string): Retry | null {
    this.voiceAgentError = reason
    return this.voice.dueAt ? null : voiceRetry
  }

  /** Marks the voice agent as failed; it is not tried again before the assistant changes. */
  voiceFailed() {
    if (this.vaRegistration) return this.showVoice("failed")
    // What may have been created for calls is removed; later calls try again.
    this.keepUpdatedAt()
    this.voiceOnDemand = false
    this.voice.dueAt = clock.now()
  }

  private showVoice(status: VoiceAgentStatus) {
    if (status === this.voiceAgentStatus) return
    this.changeUpdatedAt()
    this.voiceAgentStatus = status
  }
}
