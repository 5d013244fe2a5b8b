import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Float, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors.js"
import { AssistantTool } from "./assistant-tool.js"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, UUID } from "./kit/scalars.js"
import { systemTools } from "./kit/system-tools.js"
import { words } from "./kit/words.js"

/** What the voice side of an assistant is doing. */
export const voiceAgentStatuses = ["none", "provisioning", "ready", "failed", "terminating"] as const
export type VoiceAgentStatus = (typeof voiceAgentStatuses)[number]
export const VoiceAgentStatusEnum = words("VoiceAgentStatus", "What the voice side of an assistant is doing.", voiceAgentStatuses)

@ObjectType({ description: "An AI that answers a company's customers." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ properties: ["companyId", "updatedAt"] })
export class Assistant extends CompanyOwned {
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

  @Field(() => JSONValue, { nullable: true, description: "Its voice settings; null while it does not speak." })
  @Property({ type: "json", nullable: true })
  vaRegistration: Record<string, unknown> | null = null

  @Field(() => VoiceAgentStatusEnum, { description: "What its voice side is doing." })
  @Property({ type: "text", default: "none" })
  voiceAgentStatus: VoiceAgentStatus = "none"

  /** A new one, with its system tools; the mapper makes those that it reads without coming by here. */
  constructor() {
    super()
    this.entails(async (em) => {
      em.persist(systemTools.map((tool) => AssistantTool.builtIn(this.companyId, this.id, tool)))
      return []
    })
  }

  /** A draft answers nobody: it cannot be given a chat. */
  mustBeAssignable() {
    if (this.isDraft) throw new BadUserInput("A draft assistant cannot be assigned to a chat")
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
}
