import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Float, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { VaRegistration } from "./kit/va-registration.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"

/** What the voice side of an assistant is doing. */
export const voiceAgentStatuses = ["none", "provisioning", "ready", "failed", "terminating"] as const
export type VoiceAgentStatus = (typeof voiceAgentStatuses)[number]
export const VoiceAgentStatusEnum = words(
  "VoiceAgentStatus",
  "What the voice side of an assistant is doing; a terminating assistant is being deleted.",
  voiceAgentStatuses,
)

const VoiceState = workState("voice-agent", {
  dueAt: "voice_due_at",
  runId: "voice_work_id",
  leaseUntil: "voice_lease_until",
  failures: "voice_failures",
})

/** What is kept of an assistant; its rules are in assistant.ts. */
@ObjectType()
export abstract class AssistantRow extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "The folder it is kept in." })
  @Property({ type: "uuid", nullable: true })
  folderId: string | null = null

  @Field(() => String, { description: "Its name, 1 to 120 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "What it is told to be and do." })
  @Property({ type: "text", default: "" })
  prompt: string = ""

  @Field(() => String, { nullable: true, description: "How it greets a customer." })
  @Property({ type: "text", nullable: true })
  greeting: string | null = null

  @Field(() => String, { description: "Its language, a BCP 47 tag." })
  @Property({ type: "text", default: "en" })
  language: string = "en"

  @Field(() => UUID, { description: "The text model that answers for it." })
  @Property({ type: "uuid" })
  textModelId!: string

  @Field(() => Float, { nullable: true, description: "Sampling temperature, 0 to 2; null leaves it to the model." })
  @Property({ type: "double", nullable: true })
  temperature: number | null = null

  @Field(() => [String], { description: "Names of chat tags it must not suggest." })
  @Property({ type: "string[]", columnType: "text[]" })
  excludedTags: string[] = []

  @Field(() => Boolean, { description: "Whether it is a draft variant; drafts are not assigned to chats." })
  @Property({ type: "boolean", default: false })
  isDraft: boolean = false

  @Field(() => UUID, { nullable: true, description: "The assistant it is a variant of." })
  @Property({ type: "uuid", nullable: true })
  draftOfId: string | null = null

  @Field(() => VaRegistration, { nullable: true, description: "Its voice settings; null while it does not speak." })
  @Property({ type: "json", nullable: true })
  vaRegistration: VaRegistration | null = null

  @Field(() => VoiceAgentStatusEnum, { description: "What its voice side is doing." })
  @Property({ type: "text", default: "none" })
  voiceAgentStatus: VoiceAgentStatus = "none"

  @Field(() => String, { nullable: true, description: "Why the voice provider refused the last time; null when it did not." })
  @Property({ type: "text", nullable: true })
  voiceAgentError: string | null = null

  /** The provider that has an agent of it, or may have: noted before the provider is asked. */
  @Property({ type: "text", nullable: true })
  voiceAgentProvider: string | null = null

  /** The provider's id of the agent; null until it has answered. */
  @Property({ type: "text", nullable: true })
  voiceAgentId: string | null = null

  /** Work on its agent: when something is to be done, and who does it; a failure is a provider that refused. */
  @Embedded(() => VoiceState, { prefix: false })
  voice: WorkState = new VoiceState()
}
