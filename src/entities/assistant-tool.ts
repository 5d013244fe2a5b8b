import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors.js"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, UUID } from "./kit/scalars.js"
import { seal, unseal } from "./kit/sealed.js"
import { StorableJson } from "./kit/storable.js"
import { platformPostCall, type SystemTool } from "./kit/system-tools.js"
import { words } from "./kit/words.js"
import { entityLimits } from "./limits.js"

/** When and by whom a tool is run (specification, Assistant tool). */
export const toolTypes = ["webhook_action", "webhook_init", "webhook_postcall", "webhook_client"] as const
export type AssistantToolType = (typeof toolTypes)[number]
export const AssistantToolTypeEnum = words("AssistantToolType", "When and by whom a tool is run.", toolTypes)

/** The methods that a tool's address can be called with. */
export const httpMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
export type HttpMethod = (typeof httpMethods)[number]
export const HttpMethodEnum = words("HttpMethod", "The method that a tool's address is called with.", httpMethods)

@ObjectType({
  description: "Something that an assistant can do: an endpoint of the integrator's, an action of the client's, or a built-in one.",
})
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ name: "assistant_tool_name_unique", properties: ["assistantId", "name"] })
@Index({ properties: ["companyId", "createdAt"] })
export class AssistantTool extends CompanyOwned {
  @Field(() => UUID, { description: "The assistant that has it." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => String, { description: "Its name as the assistant sees it: letters, digits, _ and -, up to 64; unique per assistant." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "What it does and when to use it, as the assistant sees it." })
  @Property({ type: "text" })
  description!: string

  @Field(() => JSONValue, { description: "Its arguments: a JSON Schema of type object." })
  @Property({ type: StorableJson })
  params: Record<string, unknown> = { type: "object", properties: {} }

  @Field(() => AssistantToolTypeEnum, { description: "When and by whom it is run." })
  @Property({ type: "text", default: "webhook_action" })
  type: AssistantToolType = "webhook_action"

  @Field(() => String, { nullable: true, description: "The address that is called; null where the client or the server itself runs it." })
  @Property({ type: "text", nullable: true })
  apiCallUrl: string | null = null

  @Field(() => HttpMethodEnum, { nullable: true, description: "The method of the call; null for a system tool." })
  @Property({ type: "text", nullable: true })
  httpMethod: HttpMethod | null = "POST"

  @Field(() => Int, { description: "How long it may take, in seconds." })
  @Property({ type: "integer", default: entityLimits.toolTimeoutDefaultSeconds })
  timeoutSeconds: number = entityLimits.toolTimeoutDefaultSeconds

  /** Encrypted; never shown. */
  @Property({ type: "text", nullable: true, hidden: true })
  sealedSecret: string | null = null

  @Field(() => Boolean, { description: "Whether calls are signed with a secret." })
  hasWebhookSecret?: boolean

  @Field(() => Boolean, { description: "Whether it is switched off." })
  @Property({ type: "boolean", default: false })
  disabled: boolean = false

  @Field(() => Boolean, { description: "Whether it is built in; such a tool cannot be deleted." })
  @Property({ type: "boolean", default: false })
  isSystem: boolean = false

  /** A built-in tool of a new assistant. */
  static builtIn(companyId: string, assistantId: string, tool: SystemTool): AssistantTool {
    return Object.assign(new AssistantTool(), { ...tool, companyId, assistantId, httpMethod: null, isSystem: true })
  }

  /** Keeps the secret that calls are signed with; null forgets it. */
  keepSecret(secret: string | null, key: Buffer) {
    this.sealedSecret = secret === null ? null : seal(secret, key)
  }

  /** The secret that calls are signed with; null when there is none. Throws `CannotUnseal` when it was kept under another key. */
  secret(key: Buffer): string | null {
    return this.sealedSecret && unseal(this.sealedSecret, key)
  }

  /** Of a system tool only the switch may be changed, and of the platform's post-call tool nothing. */
  mustAllow(fields: string[]) {
    if (!this.isSystem || fields.length === 0) return
    if (this.name === platformPostCall.name) throw new BadUserInput(`The system tool ${this.name} cannot be changed`)
    const others = fields.filter((field) => field !== "disabled")
    if (others.length === 0) return
    const details = others.map((path) => ({ path, message: "cannot be changed on a system tool" }))
    throw new BadUserInput("Of a system tool only disabled can be changed", details)
  }

  /** A system tool cannot be deleted. */
  mustBeDeletable() {
    if (this.isSystem) throw new BadUserInput("A system tool cannot be deleted; switch it off with disabled")
  }

  /** Every type but the client's needs an address. */
  mustHaveAddress() {
    if (this.isSystem || this.type === "webhook_client" || this.apiCallUrl) return
    throw new BadUserInput("apiCallUrl is required unless the type is webhook_client", [
      { path: "apiCallUrl", message: "is required unless the type is webhook_client" },
    ])
  }
}
