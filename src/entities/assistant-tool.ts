import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { Audited } from "./kit/audited.js"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, UUID } from "./kit/scalars.js"
import { type SealingKeys, seal, unseal } from "./kit/sealed.js"
import { StorableJson } from "./kit/storable.js"
import { platformPostCall, type SystemTool } from "./kit/system-tools.js"
import { originOf } from "./kit/web-address.js"
import { words } from "./kit/words.js"
import { entityLimits } from "./limits.js"
import type { McpTool } from "./mcp-tool.js"

/** When a tool is called, and by whom (specification, Assistant tool). */
export const AssistantToolTypeEnum = words("AssistantToolType", "When a tool is called, and by whom.", {
  webhook_action: "The server calls the endpoint during a chat or a call, when the assistant decides to use the tool.",
  webhook_init: "The server calls the endpoint once at the start of a voice call; the response supplies variables for the prompt.",
  webhook_postcall: "The server calls the endpoint after the end of a voice call, with its result.",
  webhook_client: "The client application runs the tool; it is asked with the event TOOL_CALL_REQUESTED.",
  mcp: "The server calls a tool of an MCP server during a chat or a call, when the assistant decides to use it.",
})
export type AssistantToolType = (typeof AssistantToolTypeEnum)[string]

/** Where a tool of an MCP server stands for one assistant (contract, section 11). */
export const McpToolStateEnum = words("McpToolState", "Where a tool of an MCP server stands for one assistant.", {
  enabled: "The assistant can use the tool.",
  available: "The tool is not enabled.",
  changed: "Its description or its arguments have changed since it was enabled; it is not used until it is enabled again.",
  gone: "Its server no longer lists the tool; it is not used.",
})
export type McpToolState = (typeof McpToolStateEnum)[string]

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
@Index({
  name: "assistant_tool_mcp",
  expression:
    "create unique index assistant_tool_mcp on assistant_tool (mcp_server_id, mcp_tool_name, assistant_id) where mcp_server_id is not null",
})
@Audited<AssistantTool>({ names: { sealedSecret: "webhookSecret" }, internal: ["mcpDigest"], isPart: ({ isSystem }) => isSystem })
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

  @Field(() => UUID, { nullable: true, description: "ID of the MCP server of the tool; null for a tool of another type." })
  @Property({ type: "uuid", nullable: true })
  mcpServerId: string | null = null

  @Field(() => String, { nullable: true, description: "Name of the tool at its MCP server." })
  @Property({ type: "text", nullable: true })
  mcpToolName: string | null = null

  /** Fingerprint of the description and the arguments that a person accepted. */
  @Property({ type: "text", nullable: true })
  mcpDigest: string | null = null

  /** The assistant uses the tool only while it is `enabled`, which `disabled` says for every type. */
  @Field(() => McpToolStateEnum, { nullable: true, description: "Where a tool of an MCP server stands; null for a tool of another type." })
  @Property({ type: "text", nullable: true })
  mcpState: McpToolState | null = null

  /** Creates a system tool of a new assistant. */
  static builtIn(companyId: string, assistantId: string, tool: SystemTool): AssistantTool {
    return Object.assign(new AssistantTool(), { ...tool, companyId, assistantId, httpMethod: null, isSystem: true })
  }

  /** Creates a tool of an MCP server, which is not enabled yet. */
  static ofMcpServer(companyId: string, assistantId: string, name: string, tool: McpTool): AssistantTool {
    const row = Object.assign(new AssistantTool(), { companyId, assistantId, name, type: "mcp", httpMethod: null })
    return Object.assign(row, { mcpServerId: tool.serverId, mcpToolName: tool.name })
  }

  /** Lets the assistant use the tool as its server describes it now; these description and arguments stay until a person accepts others. */
  enable({ description, inputSchema, digest }: McpTool) {
    Object.assign(this, { description, params: inputSchema, mcpDigest: digest, mcpState: "enabled", disabled: false })
  }

  /** Switches a tool of an MCP server off; its log is kept. */
  switchOff() {
    Object.assign(this, { mcpState: "available", disabled: true })
  }

  /** Compares the tool with what its server lists now, null when it does not; returns whether that changes whether the assistant uses it. */
  compare(tool: McpTool | null): boolean {
    if (this.mcpState === "available") return false
    const wasDisabled = this.disabled
    const isSame = tool?.digest === this.mcpDigest && tool.fault === null
    this.mcpState = !tool || tool.isGone ? "gone" : isSame ? "enabled" : "changed"
    this.disabled = this.mcpState !== "enabled"
    return this.disabled !== wasDisabled
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

  /**
   * Throws unless the fields may be changed: a system tool allows only `disabled`, the platform's post-call tool nothing, and a tool of an MCP
   * server only `timeoutSeconds`.
   */
  mustAllow(fields: string[]) {
    if (this.isSystem && this.name === platformPostCall.name && fields.length > 0)
      throw new BadUserInput(`The system tool ${this.name} cannot be changed`)
    if (this.isSystem) refuseAllBut("disabled", fields, "a system tool")
    if (this.type === "mcp") refuseAllBut("timeoutSeconds", fields, "a tool of an MCP server")
  }

  /** Throws for a system tool, which cannot be deleted. */
  mustBeDeletable() {
    if (this.isSystem) throw new BadUserInput("A system tool cannot be deleted; switch it off with disabled")
  }

  /** Throws when the URL is missing: every type except `webhook_client` needs one. */
  mustHaveAddress() {
    if (this.isSystem || this.type === "webhook_client" || this.type === "mcp" || this.apiCallUrl) return
    throw new BadUserInput("apiCallUrl is required unless the type is webhook_client", [
      { path: "apiCallUrl", message: "is required unless the type is webhook_client" },
    ])
  }
}

function refuseAllBut(allowed: string, fields: string[], kind: string) {
  const details = fields.filter((field) => field !== allowed).map((path) => ({ path, message: `cannot be changed on ${kind}` }))
  if (details.length > 0) throw new BadUserInput(`Only ${allowed} can be changed on ${kind}`, details)
}
