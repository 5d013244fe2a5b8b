import { isDeepStrictEqual } from "node:util"
import { mustManageIntegrations } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { clock } from "../entities/kit/clock.js"
import { CannotUnseal } from "../entities/kit/sealed.js"
import { originOf } from "../entities/kit/web-address.js"
import { credentialsOf, type McpCredentials, McpServer } from "../entities/mcp-server.js"
import { McpTool } from "../entities/mcp-tool.js"
import { Conflict, NotFound } from "../errors/errors.js"
import { type McpAccount, McpFailure } from "../ports/mcp.js"
import { findToChange, patch } from "../schema/kit/input.js"
import { type CreateMcpServerInput, checkServer, type UpdateMcpServerInput } from "../schema/mcp-server.js"
import { accountOf } from "./account.js"
import { mcpServerLimits } from "./limits.js"
import { type Listing, listTools, renewAgents, storeListing } from "./listing.js"

const noun = "MCP server"
const what = "its MCP servers"

/** Finds a server to change; NOT_FOUND comes before FORBIDDEN. `companyId` is that of a path, which must be the server's. */
export async function managedServer(tx: RequestContext, id: string, companyId?: string | null, input: object = {}): Promise<McpServer> {
  const reach = tx.reach(companyId)
  const server = await findToChange(tx, McpServer, id, input, noun)
  if (!reach.includes(server.companyId)) throw new NotFound(noun)
  mustManageIntegrations(tx, server.companyId, what)
  return server
}

/** Creates a server, with its tools as it lists them now; one that cannot be listed is stored with the reason. */
export async function createServer(context: RequestContext, input: CreateMcpServerInput): Promise<string> {
  const { companyId: named, name, url } = input
  checkServer(input)
  const companyId = context.company(named)
  mustManageIntegrations(context, companyId, what)
  const server = Object.assign(new McpServer(), { companyId, name, url })
  server.keepCredentials(given(none, input), context.services.secrets.encryptionKey)
  const listing = await listTools(context, companyId, accountOf(context.services, server))
  await context.transaction(async (tx) => {
    await mustHaveRoom(tx, McpServer, companyId, "MCP servers", { most: mcpServerLimits.perCompany })
    await storeListing(tx, server, listing)
    tx.em.persist(server)
  })
  return server.id
}

const none: McpCredentials = { headers: {}, client: null }

/** The credentials after an input: absent ones stay, null deletes them. */
function given(before: McpCredentials, { headers, clientCredentials: client }: UpdateMcpServerInput): McpCredentials {
  return {
    headers: headers === undefined ? before.headers : (headers ?? {}),
    client: client === undefined ? before.client : client && { ...client, scope: client.scope ?? null },
  }
}

/**
 * The server's account after an input. Another origin gets none of the credentials of before: otherwise a person who may change the URL could
 * read them. Those that no key decrypts any more are lost.
 */
function accountAfter({ services: { secrets } }: RequestContext, server: McpServer, input: UpdateMcpServerInput): McpAccount {
  const { id } = server
  const url = input.url ?? server.url
  if (originOf(url) !== originOf(server.url)) return { id, url, ...given(none, input) }
  try {
    return { id, url, ...given(credentialsOf(server, secrets), input) }
  } catch (error) {
    if (!(error instanceof CannotUnseal)) throw error
    return { id, url, ...given(none, input) }
  }
}

/** Changes a server, and lists its tools again when its URL or its credentials are given. */
export async function updateServer(
  context: RequestContext,
  id: string,
  input: UpdateMcpServerInput,
  companyId?: string | null,
): Promise<void> {
  checkServer(input)
  const { headers, clientCredentials, url, ...fields } = input
  const find = (tx: RequestContext) => managedServer(tx, id, companyId, { ...fields, url })
  const isConnection = [headers, clientCredentials, url].some((value) => value !== undefined)
  const before = await context.transaction(async (tx) => {
    const server = await find(tx)
    return { account: accountAfter(tx, server, input), companyId: server.companyId, tools: await toolsOf(tx, id) }
  })
  const listing = isConnection && (await listTools(context, before.companyId, before.account, before.tools))
  await context.transaction(async (tx) => {
    const server = patch(tx, await find(tx), fields)
    if (!listing) return
    const account = accountAfter(tx, server, input)
    if (!isDeepStrictEqual(account, before.account)) throw new Conflict("The MCP server was changed at the same time: try again")
    server.url = account.url
    server.keepCredentials(account, tx.services.secrets.encryptionKey)
    await storeListing(tx, server, listing)
  })
}

const toolsOf = (tx: RequestContext, serverId: string) => tx.em.find(McpTool, { serverId })

/** What a listing needs to know of a server. */
export async function listingOf(tx: RequestContext, server: McpServer) {
  return { server: { ...server }, tools: await toolsOf(tx, server.id) }
}

/** Lists the tools of a server now. */
export async function refreshServer(context: RequestContext, id: string, companyId?: string | null): Promise<void> {
  const known = await context.transaction(async (tx) => listingOf(tx, await managedServer(tx, id, companyId)))
  const begun = clock.now()
  const listing = await listKnown(context, known)
  await context.transaction(async (tx) => {
    const server = await managedServer(tx, id, companyId)
    if (isOfNow(server, known.server, begun)) await storeListing(tx, server, listing)
  })
}

/** Lists a server; credentials that cannot be decrypted are a result, too. */
export async function listKnown(
  context: RequestContext,
  { server, tools }: Awaited<ReturnType<typeof listingOf>>,
  signal?: AbortSignal,
): Promise<Listing> {
  try {
    return await listTools(context, server.companyId, accountOf(context.services, server), tools, signal)
  } catch (error) {
    if (error instanceof McpFailure) return error
    throw error
  }
}

/** Whether what was listed is of the server as it is now, and no later listing has been stored. */
export const isOfNow = (server: McpServer, listed: Pick<McpServer, "url" | "sealedCredentials">, begun: Date) =>
  server.url === listed.url &&
  server.sealedCredentials === listed.sealedCredentials &&
  (server.refreshedAt === null || server.refreshedAt <= begun)

/** Deletes a server, with its tools and the logs of their calls. */
export async function deleteServer(tx: RequestContext, id: string, companyId?: string | null): Promise<McpServer> {
  const server = await managedServer(tx, id, companyId)
  await renewAgents(tx, await tx.em.find(AssistantTool, { mcpServerId: id, mcpState: "enabled" }))
  return server
}
