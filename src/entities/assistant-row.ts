import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Float, ObjectType } from "type-graphql"
import type { GuardrailSettings } from "./kit/guardrail-settings.js"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { TextList } from "./kit/text-list.js"
import { VaRegistration } from "./kit/va-registration.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"

/** State of the voice agent of an assistant. */
export const VoiceAgentStatusEnum = words("VoiceAgentStatus", "State of the voice agent of an assistant.", {
  none: "The assistant has no voice settings.",
  provisioning: "The voice agent is being created or updated.",
  ready: "The voice agent can take calls.",
  failed: "The voice provider refused the last change; see voiceAgentError.",
  terminating: "The assistant is being deleted, after the removal of its voice agent.",
})
export type VoiceAgentStatus = (typeof VoiceAgentStatusEnum)[string]

const VoiceState = workState("voice-agent", {
  dueAt: "voice_due_at",
  runId: "voice_work_id",
  leaseUntil: "voice_lease_until",
  failures: "voice_failures",
})

/** Columns of an assistant; its domain rules are in assistant.ts. */
@ObjectType()
export abstract class AssistantRow extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "ID of the assistant folder; null when the assistant is in no folder." })
  @Property({ type: "uuid", nullable: true })
  folderId: string | null = null

  @Field(() => String, { description: "Name of the assistant, 1 to 120 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "Instructions for the text model." })
  @Property({ type: "text", default: "" })
  prompt: string = ""

  @Field(() => String, { nullable: true, description: "Greeting for customers." })
  @Property({ type: "text", nullable: true })
  greeting: string | null = null

  @Field(() => String, {
    nullable: true,
    description: "What customers are told when the assistant hands a chat over and has written nothing; null for nothing.",
  })
  @Property({ type: "text", nullable: true })
  handOffMessage: string | null = null

  @Field(() => String, { description: "Language of the assistant, as a BCP 47 tag." })
  @Property({ type: "text", default: "en" })
  language: string = "en"

  /** The guardrails; null when they were never set. */
  @Property({ type: "json", nullable: true })
  guardrailSettings: GuardrailSettings | null = null

  @Field(() => UUID, { description: "ID of the text model that generates the answers." })
  @Property({ type: "uuid" })
  textModelId!: string

  @Field(() => Float, { nullable: true, description: "Sampling temperature, 0 to 2; null means the default of the text model." })
  @Property({ type: "double", nullable: true })
  temperature: number | null = null

  @Field(() => [String], { description: "Names of chat tags that the assistant must not set." })
  @Property({ type: TextList, columnType: "text[]" })
  excludedTags: string[] = []

  @Field(() => Boolean, { description: "Whether the assistant is a draft variant; a draft cannot be assigned to a chat." })
  @Property({ type: "boolean", default: false })
  isDraft: boolean = false

  @Field(() => UUID, { nullable: true, description: "ID of the assistant of which this draft is a variant." })
  @Property({ type: "uuid", nullable: true })
  draftOfId: string | null = null

  @Field(() => VaRegistration, { nullable: true, description: "Voice settings; null when the assistant takes no calls." })
  @Property({ type: "json", nullable: true })
  vaRegistration: VaRegistration | null = null

  @Field(() => VoiceAgentStatusEnum, { description: "State of the voice agent." })
  @Property({ type: "text", default: "none" })
  voiceAgentStatus: VoiceAgentStatus = "none"

  @Field(() => String, { nullable: true, description: "Error of the last request to the voice provider; null when it succeeded." })
  @Property({ type: "text", nullable: true })
  voiceAgentError: string | null = null

  /** The provider that has, or may have, a voice agent of this assistant; stored before the request to the provider. */
  @Property({ type: "text", nullable: true })
  voiceAgentProvider: string | null = null

  /** ID of the voice agent at the provider; null until the provider has created it. */
  @Property({ type: "text", nullable: true })
  voiceAgentId: string | null = null

  /** Hash of the settings that the provider confirmed; null where the agent may have others, as during a request and after one that failed. */
  @Property({ type: "text", nullable: true })
  voiceAgentHash: string | null = null

  /** Whether the voice agent was created for a call, without voice settings. */
  @Property({ type: "boolean", default: false })
  voiceOnDemand: boolean = false

  /** Work state of the voice agent; `failures` counts requests that the provider refused. */
  @Embedded(() => VoiceState, { prefix: false })
  voice: WorkState = new VoiceState()
}
