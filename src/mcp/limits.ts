/** Limits that mcp/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const mcpLimits = {
  /** How long a client may keep the list of tools, which changes only with the version of the server; ours. */
  toolListMs: 5 * 60_000,
  /** So much of an unknown name is shown in an error; ours. */
  shownNameCharacters: 100,
} as const
