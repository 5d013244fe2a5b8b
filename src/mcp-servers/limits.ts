/** Limits that mcp-servers/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const mcpServerLimits = {
  /** Servers of a company. */
  perCompany: 20,
  /** Tools that a server may list. */
  toolsPerServer: 128,
  /** Tools of MCP servers that an assistant may have enabled. */
  enabledPerAssistant: 40,
  /** Longest name of a tool for an assistant, as of every tool. */
  toolName: 64,
  /** Longest name of a tool at its server (MCP, 2025-11-25). */
  listedName: 128,
  /** Longest description of a tool that an assistant can use; ours: it is sent to the model with every call of it. */
  description: 8_000,
  /** Most bytes of a result that are kept, as of the response of a webhook. */
  keptBytes: 256 * 1024,
  /** Lease on a listing: a worker that does not renew it counts as lost; ours. */
  leaseMs: 60_000,
  /** Interval of its renewal; ours. */
  renewMs: 15_000,
  /** Servers that an instance lists at once, in all and per company; ours. */
  slots: { instance: 20, company: 4 },
  /** How often a sweep looks for servers that are due; ours. */
  sweepSeconds: 30,
  /** Pause after a fault of this server; it doubles with each … */
  faultPauseMs: 10_000,
  /** … up to this; ours. */
  faultPauseMaxMs: 3_600_000,
} as const
