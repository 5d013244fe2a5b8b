import { Embedded, Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { Audited } from "./kit/audited.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime } from "./kit/scalars.js"
import { type SealingKeys, seal, unseal } from "./kit/sealed.js"
import { StorableJson } from "./kit/storable.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"
import { McpTool } from "./mcp-tool.js"

/** Whether the tools of an MCP server could be listed, the last time. */
export const McpServerStatusEnum = words("McpServerStatus", "Whether the tools of an MCP server could be listed, the last time.", {
  ready: "The tools are those that the server listed.",
  unreachable: "The server did not answer, or not in time.",
  unauthorized: "The server did not accept the credentials.",
  invalid: "The server answered, but not as an MCP server, or it exceeds a limit.",
})
export type McpServerStatus = (typeof McpServerStatusEnum)[string]

/** Why a server cannot be used. */
export type McpFault = Exclude<McpServerStatus, "ready">

/** Credentials of the OAuth grant `client_credentials` (RFC 6749, section 4.4). */
export interface McpClientCredentials {
  clientId: string
  clientSecret: string
  /** Space-separated scopes; null for those that the server names. */
  scope: string | null
  /** Issuer identifier of the only authorization server that gets the secret, whatever the server names. */
  issuer: string
}

/** Credentials for a server: headers of every request, and those for its authorization server. */
export interface McpCredentials {
  headers: Record<string, string>
  client: McpClientCredentials | null
}

const RefreshState = workState("refresh-mcp-server", {
  dueAt: "refresh_due_at",
  runId: "refresh_id",
  leaseUntil: "refresh_lease_until",
  failures: "refresh_failures",
})

@ObjectType({ description: "A server of the Model Context Protocol, whose tools the assistants of a company can use." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ properties: ["companyId", "createdAt"] })
@Index({
  name: "mcp_server_due",
  expression: "create index mcp_server_due on mcp_server (company_id, refresh_due_at) where refresh_due_at is not null",
})
@Index({
  name: "mcp_server_lease",
  expression: "create index mcp_server_lease on mcp_server (refresh_lease_until) where refresh_lease_until is not null",
})
@Audited<McpServer>({
  names: { sealedCredentials: "credentials" },
  internal: ["status", "reason", "refreshedAt", "protocol", "refreshing"],
})
export class McpServer extends CompanyOwned {
  @Field(() => String, { description: "Name of the server; names of its tools begin with it." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "URL of the server's MCP endpoint." })
  @Property({ type: "text" })
  url!: string

  /** The encrypted `McpCredentials`; they are never returned to clients. */
  @Property({ type: "text", nullable: true, hidden: true })
  sealedCredentials: string | null = null

  @Field(() => Boolean, { description: "Whether headers or client credentials are set." })
  hasCredentials?: boolean

  @Field(() => McpServerStatusEnum, { description: "Whether the tools could be listed, the last time." })
  @Property({ type: "text" })
  status!: McpServerStatus

  @Field(() => String, { nullable: true, description: "Why the tools could not be listed, and what to do; null when they could." })
  @Property({ type: "text", nullable: true })
  reason: string | null = null

  @Field(() => DateTime, { nullable: true, description: "Time when the tools were last listed; null when they never were." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  refreshedAt: Date | null = null

  /** What calls need to know of the server's protocol, as the MCP client left it. */
  @Property({ type: StorableJson, nullable: true })
  protocol: unknown = null

  /** Work state of the hourly listing. */
  @Embedded(() => RefreshState, { prefix: false })
  refreshing: WorkState = new RefreshState()

  @Field(() => [McpTool], { description: "Tools that the server lists, and those that it no longer lists and assistants have." })
  tools?: McpTool[]

  /** Encrypts and stores credentials; those that are empty are deleted. */
  keepCredentials({ headers, client }: McpCredentials, key: Buffer) {
    const isEmpty = Object.keys(headers).length === 0 && !client
    this.sealedCredentials = isEmpty ? null : seal(JSON.stringify({ headers, client }), key)
  }

  /** Records a listing that succeeded. */
  listed(protocol: unknown) {
    this.recorded("ready", null)
    this.refreshedAt = clock.now()
    this.protocol = protocol
  }

  /** Records why the tools could not be listed; those of before are kept. */
  notListed(status: McpFault, reason: string) {
    this.recorded(status, reason)
  }

  private recorded(status: McpServerStatus, reason: string | null) {
    if (this.status === status && this.reason === reason) this.keepUpdatedAt()
    Object.assign(this, { status, reason })
    const pauseMs = entityLimits.mcpRefreshMs * (1 + Math.random() * entityLimits.mcpRefreshJitter)
    this.expectWork(this.refreshing, new Date(clock.now().getTime() + pauseMs))
  }
}

/** Decrypts the credentials of a server. Throws `CannotUnseal` if another key encrypted them. */
export function credentialsOf(
  { sealedCredentials }: Pick<McpServer, "sealedCredentials">,
  { encryptionKey, encryptionKeyPrevious }: SealingKeys,
): McpCredentials {
  if (sealedCredentials === null) return { headers: {}, client: null }
  return JSON.parse(unseal(sealedCredentials, encryptionKey, encryptionKeyPrevious)) as McpCredentials
}
