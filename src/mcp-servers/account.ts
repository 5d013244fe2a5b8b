import type { Services } from "../context/services.js"
import { CannotUnseal } from "../entities/kit/sealed.js"
import { credentialsOf, type McpServer } from "../entities/mcp-server.js"
import { type McpAccount, McpFailure } from "../ports/mcp.js"

/** The server with its decrypted credentials. Throws `McpFailure` when the current key cannot decrypt them, and logs it. */
export function accountOf(
  { secrets, log }: Pick<Services, "secrets" | "log">,
  server: Pick<McpServer, "id" | "url" | "companyId" | "sealedCredentials">,
): McpAccount {
  const { id, url, companyId } = server
  try {
    return { id, url, ...credentialsOf(server, secrets) }
  } catch (error) {
    if (!(error instanceof CannotUnseal)) throw error
    log.error({ err: error, mcpServerId: id, companyId }, `the credentials of an MCP server ${error.message}`)
    throw new McpFailure("unauthorized", `The server's credentials ${error.message}: give them again`)
  }
}
