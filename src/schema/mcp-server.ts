import { Field, InputType } from "type-graphql"
import { computed, hasMany, readModel } from "../database/read-model.js"
import { JSONValue, Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { WebAddress } from "../entities/kit/web-address.js"
import { BadUserInput, type Detail } from "../errors/errors.js"
import { schemaLimits } from "./limits.js"

export const mcpToolReadModel = readModel("McpTool")

export const mcpServerReadModel = readModel("McpServer", {
  hasCredentials: computed(["sealedCredentials"], ({ sealedCredentials }) => sealedCredentials !== null),
  tools: hasMany(
    () => mcpToolReadModel,
    "serverId",
    (query, ids) => query.where("t.server_id", "=", ids).orderBy("t.name").orderBy("t.id"),
  ),
})

const ServerName = Trimmed({ max: schemaLimits.mcpServerName })
const credentialField = Verbatim(schemaLimits.mcpCredential)

@InputType({ description: "Credentials of the OAuth grant client_credentials, for servers that machines sign in to." })
export class McpClientCredentialsInput {
  @Field(() => credentialField, { description: "ID of the client at the authorization server." })
  clientId!: string

  @Field(() => credentialField, { description: "Secret of the client." })
  clientSecret!: string

  @Field(() => credentialField, { nullable: true, description: "Scopes, separated by spaces. Default: those that the server names." })
  scope?: string | null

  @Field(() => WebAddress, {
    description: "Issuer identifier of the authorization server, the only one that gets the secret, whatever the MCP server names.",
  })
  issuer!: string
}

@InputType()
abstract class McpServerFields {
  @Field(() => JSONValue, {
    nullable: true,
    description:
      "Headers of every request to the server, by name, for example { Authorization }, instead of those of before. They are never returned, and deleted when the URL moves to another origin.",
  })
  headers?: Record<string, string> | null

  @Field(() => McpClientCredentialsInput, {
    nullable: true,
    description: "Client credentials; never returned, and deleted when the URL moves to another origin.",
  })
  clientCredentials?: McpClientCredentialsInput | null
}

@InputType({ description: "The MCP server to create." })
export class CreateMcpServerInput extends McpServerFields {
  @Field(() => UUID, {
    nullable: true,
    description: "ID of the company. Default: the company of the access token, or the only company of the user.",
  })
  companyId?: string | null

  @Field(() => ServerName, { description: "Name of the server; names of its tools begin with it." })
  name!: string

  @Field(() => WebAddress, { description: "URL of the server's MCP endpoint (Streamable HTTP)." })
  url!: string
}

@InputType({ description: "The fields of an MCP server to change." })
export class UpdateMcpServerInput extends McpServerFields {
  @Field(() => ServerName, { nullable: true, description: "Name of the server; tools that are enabled keep their names." })
  name?: string | null

  @Field(() => WebAddress, { nullable: true, description: "URL of the server's MCP endpoint (Streamable HTTP)." })
  url?: string | null
}

@InputType({ description: "A tool of an MCP server." })
export class McpToolInput {
  @Field(() => UUID, { description: "ID of the MCP server." })
  serverId!: string

  @Field(() => Verbatim(schemaLimits.mcpToolName), { description: "Name of the tool at its server." })
  name!: string

  @Field(() => String, {
    nullable: true,
    description:
      "Digest of the tool as it was read; the request is refused if the tool has changed since. The digest that was accepted leaves a tool that has changed as it is. Default: the tool as it is now.",
  })
  digest?: string | null
}

/** Headers that the protocol or HTTP sets. */
const reserved =
  /^(host|content-.*|accept|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|mcp-.*|last-event-id|cookie2?)$/i

/** Checks the headers, which the scalar leaves open. */
export function checkServer({ headers }: UpdateMcpServerInput) {
  if (headers == null) return
  const details: Detail[] = faultsOf(headers).map((message) => ({ path: "headers", message }))
  if (details.length > 0) throw new BadUserInput(details.map(({ message }) => `headers ${message}`).join("; "), details)
}

function faultsOf(headers: unknown): string[] {
  if (typeof headers !== "object" || Array.isArray(headers)) return ["must be an object of names and values"]
  const entries = Object.entries(headers as Record<string, unknown>)
  if (entries.length > schemaLimits.mcpHeaders) return [`must be at most ${schemaLimits.mcpHeaders}`]
  return entries.flatMap(([name, value]) => faultOfHeader(name, value) ?? [])
}

function faultOfHeader(name: string, value: unknown): string | null {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) return "must have names of letters, digits and -"
  if (reserved.test(name)) return `must not contain ${name}, which the protocol sets`
  if (typeof value !== "string") return `must have a string as the value of ${name}`
  if (value === "" || value.length > schemaLimits.mcpCredential || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value) || value !== value.trim())
    return `must have 1 to ${schemaLimits.mcpCredential} visible characters of Latin-1 as the value of ${name}`
  return null
}
