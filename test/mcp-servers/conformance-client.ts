import { discoverOAuthServerInfo } from "@modelcontextprotocol/client"
import { GuardedHttpClient } from "../../src/ports/kit/guarded-http-client.js"
import { mcpClient } from "../../src/ports/mcp/client.js"

/**
 * The server's client of MCP servers as a program, for the protocol's conformance suite: it lists the tools of the address in its last argument
 * and calls each of them once. The suite passes client credentials in the environment.
 */
const url = process.argv.at(-1)!
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, string>
const { client_id: clientId, client_secret: clientSecret } = context
/** What the owner of a server reads in the reason why it is unauthorized. */
const issuer = async () => (await discoverOAuthServerInfo(url)).authorizationServerMetadata!.issuer
const credentials = clientId && clientSecret ? { clientId, clientSecret, scope: null, issuer: await issuer() } : null
const account = { id: "conformance", url, headers: {}, client: credentials }
const httpClient = new GuardedHttpClient(true)
const client = mcpClient(httpClient)
const { tools, protocol } = await client.list(account)
for (const tool of tools) {
  const result = await client.call(account, protocol, { id: `call of ${tool.name}`, tool, args: { a: 5, b: 3 }, timeoutMs: 20_000 })
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
httpClient.close()
