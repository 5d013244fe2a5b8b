/** The revisions of the protocol that the platform speaks. */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18"] as const
export type Revision = (typeof revisions)[number]

/** How the clients of tests call themselves. */
export const client = { name: "tests", version: "1.0" }

/** What a client of a revision sends with each message besides its method and parameters. */
export function dressed(
  revision: Revision,
  method: string,
  params: Record<string, unknown>,
): { headers: Record<string, string>; params: Record<string, unknown> } {
  const accept = { Accept: "application/json, text/event-stream" }
  if (revision !== "2026-07-28") return { headers: { ...accept, "MCP-Protocol-Version": revision }, params }
  const { name: named } = params
  // What a header can carry.
  const name: Record<string, string> = typeof named === "string" && /^[\x20-\x7e]{1,200}$/.test(named) ? { "Mcp-Name": named } : {}
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": client,
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  const meta = { ...envelope, ...(params["_meta"] as object | undefined) }
  return { headers: { ...accept, "MCP-Protocol-Version": revision, "Mcp-Method": method, ...name }, params: { ...params, _meta: meta } }
}

/** The JSON-RPC message of a response, which a server sends as JSON or as the one event of a stream. */
export function messageIn(type: string | undefined, text: string): unknown {
  if (!text) return null
  if (!type?.startsWith("text/event-stream")) return JSON.parse(text)
  // U+2028, which a text of JSON may contain, ends no line here.
  const line = text.split("\n").find((each) => each.startsWith("data: "))!
  return JSON.parse(line.slice("data: ".length))
}
