import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors.js"
import { Audited } from "./kit/audited.js"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, UUID } from "./kit/scalars.js"
import { type SealingKeys, seal, unseal } from "./kit/sealed.js"
import { StorableJson } from "./kit/storable.js"
import { platformPostCall, type SystemTool } from "./kit/system-tools.js"
import { words } from "./kit/words.js"
import { entityLimits } from "./limits.js"

/** When a tool is called, and by whom (specification, Assistant tool). */
export const AssistantToolTypeEnum = words("AssistantToolType", "When a tool is called, and by whom.", {
  webhook_action: "The server calls the endpoint during a chat or a call, when the assistant decides to use the tool.",
  webhook_init: "The server calls the endpoint once at the start of a voice call; the response supplies variables for the prompt.",
  webhook_postcall: "The server calls the endpoint after the end of a voice call, with its result.",
  webhook_client: "The client application runs the tool; it is asked with the event TOOL_CALL_REQUESTED.",
})
export type AssistantToolType = (typeof AssistantToolTypeEnum)[string]

/** HTTP methods of requests to the endpoint of a tool. */
export const HttpMethodEnum = words("HttpMethod", "HTTP method of the request to the endpoint of a tool.", {
  GET: "The arguments are sent in the query string.",
  POST: "The arguments are sent as a JSON body.",
  PUT: "The arguments are sent as a JSON body.",
  PATCH: "The arguments are sent as a JSON body.",
  DELETE: "The arguments are sent in the query string.",
})
export type HttpMethod = (typeof HttpMethodEnum)[string]

@ObjectType({
  description: "A tool that an assistant can call: an HTTP endpoint, an action of the client application, or a built-in system tool.",
})
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ name: "assistant_tool_name_unique", properties: ["assistantId", "name"] })
@Index({ properties: ["companyId", "createdAt"] })
@Audited<AssistantTool>({ names: { sealedSecret: "webhookSecret" }, isPart: ({ isSystem }) => isSystem })
export class AssistantTool extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the assistant that owns the tool." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => String, {
    description: "Name of the tool, visible to the assistant: 1 to 64 letters, digits, _ and -; unique per assistant.",
  })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "What the tool does and when to use it; visible to the assistant." })
  @Property({ type: "text" })
  description!: string

  @Field(() => JSONValue, { description: "Arguments of the tool: a JSON Schema of type object." })
  @Property({ type: StorableJson })
  params: Record<string, unknown> = { type: "object", properties: {} }

  @Field(() => AssistantToolTypeEnum, { description: "When the tool is called, and by whom." })
  @Property({ type: "text", default: "webhook_action" })
  type: AssistantToolType = "webhook_action"

  @Field(() => String, {
    nullable: true,
    description: "URL of the endpoint; null when the client application or the server itself runs the tool.",
  })
  @Property({ type: "text", nullable: true })
  apiCallUrl: string | null = null

  @Field(() => HttpMethodEnum, { nullable: true, description: "HTTP method of the request; null for a system tool." })
  @Property({ type: "text", nullable: true })
  httpMethod: HttpMethod | null = "POST"

  @Field(() => Int, { description: "Time limit of a call, in seconds." })
  @Property({ type: "integer", default: entityLimits.toolTimeoutDefaultSeconds })
  timeoutSeconds: number = entityLimits.toolTimeoutDefaultSeconds

  /** The encrypted secret; it is never returned to clients. */
  @Property({ type: "text", nullable: true, hidden: true })
  sealedSecret: string | null = null

  @Field(() => Boolean, { description: "Whether a secret is set, with which requests are signed." })
  hasWebhookSecret?: boolean

  @Field(() => Boolean, { description: "Whether the tool is switched off." })
  @Property({ type: "boolean", default: false })
  disabled: boolean = false

  @Field(() => Boolean, { description: "Whether this is a built-in system tool, which cannot be deleted." })
  @Property({ type: "boolean", default: false })
  isSystem: boolean = false

  /** Creates a system tool of a new assistant. */
  static builtIn(companyId: string, assistantId: string, tool: SystemTool): AssistantTool {
    return Object.assign(new AssistantTool(), { ...tool, companyId, assistantId, httpMethod: null, isSystem: true })
  }

  /** Encrypts and stores the secret that signs requests to the endpoint; null deletes it. */
  keepSecret(secret: string | null, key: Buffer) {
    this.sealedSecret = secret === null ? null : seal(secret, key)
  }

  /** Decrypts the secret that signs requests to the endpoint; null when none is set. Throws `CannotUnseal` if another key encrypted it. */
  secret({ encryptionKey, encryptionKeyPrevious }: SealingKeys): string | null {
    return this.sealedSecret && unseal(this.sealedSecret, encryptionKey, encryptionKeyPrevious)
  }

  /**
   * Deletes the secret when the URL now has another origin than before: otherwise a person who may change the tool could have requests to a
   * server of their own signed with it. No URL counts as an origin, so that the URL cannot be moved in two steps.
   */
  dropSecretOfOtherOrigin(before: string | null) {
    if (originOf(this.apiCallUrl) !== originOf(before)) this.sealedSecret = null
  }

  /** Throws unless the fields may be changed: a system tool allows only `disabled`, and the platform's post-call tool nothing. */
  mustAllow(fields: string[]) {
    if (!this.isSystem || fields.length === 0) return
    if (this.name === platformPostCall.name) throw new BadUserInput(`The system tool ${this.name} cannot be changed`)
    const forbidden = fields.filter((field) => field !== "disabled")
    if (forbidden.length === 0) return
    const details = forbidden.map((path) => ({ path, message: "cannot be changed on a system tool" }))
    throw new BadUserInput("Only disabled can be changed on a system tool", details)
  }

  /** Throws for a system tool, which cannot be deleted. */
  mustBeDeletable() {
    if (this.isSystem) throw new BadUserInput("A system tool cannot be deleted; switch it off with disabled")
  }

  /** Throws when the URL is missing: every type except `webhook_client` needs one. */
  mustHaveAddress() {
    if (this.isSystem || this.type === "webhook_client" || this.apiCallUrl) return
    throw new BadUserInput("apiCallUrl is required unless the type is webhook_client", [
      { path: "apiCallUrl", message: "is required unless the type is webhook_client" },
    ])
  }
}

const originOf = (url: string | null) => url && new URL(url).origin
