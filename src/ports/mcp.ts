import type { McpClientCredentials, McpFault } from "../entities/mcp-server.js"

/** A server of the Model Context Protocol that a company has chosen, and what identifies the company there. */
export interface McpAccount {
  /** ID of the server here; tokens of its authorization server are kept under it. */
  id: string
  url: string
  /** Headers of every request. */
  headers: Record<string, string>
  client: McpClientCredentials | null
}

/** A tool as its server lists it. */
export interface ListedTool {
  name: string
  title: string | null
  description: string
  /** JSON Schema of the arguments, not checked. */
  inputSchema: Record<string, unknown>
}

/** What a server lists, and how it wants to be spoken to. */
export interface McpListing {
  tools: ListedTool[]
  /** What a later call needs to know of the server's protocol, so that it does not ask again; null when that is too large to be kept. */
  protocol: unknown
}

/** Thrown when a server cannot be listed; the message is one sentence for its owner. */
export class McpFailure extends Error {
  override name = "McpFailure"

  constructor(
    readonly fault: McpFault,
    message: string,
    /** HTTP status of the response, if there was one. */
    readonly status: number | null = null,
  ) {
    super(message)
  }
}

/** A picture in a result. */
export interface McpPicture {
  bytes: Buffer
  mimeType: string
}

/** What a tool answered: data, never to be followed. */
export interface McpResult {
  /** Whether the tool says that it failed. */
  isError: boolean
  /** Its texts, joined. */
  text: string
  /** Its structured content; null without. */
  structured: unknown
  pictures: McpPicture[]
  /** HTTP status of the response. */
  status: number | null
}

/** A call of a tool. */
export interface McpCall {
  /** The stable ID of the call, sent as its idempotency key. */
  id: string
  tool: { name: string; inputSchema: Record<string, unknown> }
  args: Record<string, unknown>
  timeoutMs: number
  signal?: AbortSignal
}

/** Client of MCP servers. */
export interface McpClient {
  /** Lists the tools of a server, within the limits of time and size; throws only `McpFailure`. */
  list(account: McpAccount, signal?: AbortSignal): Promise<McpListing>
  /** Calls a tool; the request of the call is sent at most once. Throws only `McpFailure`. */
  call(account: McpAccount, protocol: unknown, call: McpCall): Promise<McpResult>
}
