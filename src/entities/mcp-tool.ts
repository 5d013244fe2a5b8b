import { hash } from "node:crypto"
import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, UUID } from "./kit/scalars.js"
import { StorableJson } from "./kit/storable.js"

/** What a person accepts when they enable a tool: its description and its arguments. */
export interface McpToolDefinition {
  name: string
  title: string | null
  description: string
  inputSchema: Record<string, unknown>
  /** Why no assistant can use the tool, in a sentence; null when one can. */
  fault: string | null
}

@ObjectType({ description: "A tool that an MCP server lists." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ name: "mcp_tool_name_unique", properties: ["serverId", "name"] })
export class McpTool extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the MCP server." })
  @Property({ type: "uuid" })
  serverId!: string

  @Field(() => String, { description: "Name of the tool at its server." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { nullable: true, description: "Name of the tool for people." })
  @Property({ type: "text", nullable: true })
  title: string | null = null

  @Field(() => String, { description: "What the tool does, in the words of its server." })
  @Property({ type: "text" })
  description!: string

  @Field(() => JSONValue, { description: "Arguments of the tool: a JSON Schema." })
  @Property({ type: StorableJson })
  inputSchema!: Record<string, unknown>

  @Field(() => String, { nullable: true, description: "Why no assistant can use the tool; null when one can." })
  @Property({ type: "text", nullable: true })
  fault: string | null = null

  @Field(() => Boolean, { description: "Whether the server no longer lists the tool." })
  @Property({ type: "boolean", default: false })
  isGone: boolean = false

  @Field(() => String, {
    description: "Fingerprint of description and arguments; with it, setAssistantMcpTools enables exactly what was read.",
  })
  @Property({ type: "text" })
  digest!: string

  /** Takes over what the server lists now; what is as before is not written. */
  define(definition: McpToolDefinition) {
    const digest = digestOf(definition)
    const { title, fault } = definition
    if (this.digest === digest && this.title === title && this.fault === fault && !this.isGone) return
    Object.assign(this, { ...definition, digest, isGone: false })
  }
}

/** Fingerprint of what a person accepts, whatever the order of the properties: not every server keeps it, and neither does the database. */
export const digestOf = ({ description, inputSchema }: Pick<McpToolDefinition, "description" | "inputSchema">): string =>
  hash("sha256", JSON.stringify([description, inputSchema], inOrder), "base64url")

const inOrder = (_name: string, value: unknown) =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
