/** The SDK of the protocol; it is large, so it is loaded with its first use. */
export type McpSdk = typeof import("@modelcontextprotocol/client")

let loaded: Promise<McpSdk> | undefined

/** Loads the SDK, once. */
export const mcpSdk = (): Promise<McpSdk> => {
  loaded ??= import("@modelcontextprotocol/client")
  return loaded
}
