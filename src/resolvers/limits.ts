/** Limits that resolvers/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const resolverLimits = {
  /** Default page size of calls, tools, tool calls, knowledge items and event deliveries. */
  pageDefault: 20,
  /** Page size of assistants (Limits table). */
  assistantPageDefault: 10,
  /** Shortest password. */
  passwordMin: 8,
  /** Longest password. */
  passwordMax: 200,
  /** Longest label; a label is the name of a tag. */
  chatLabel: 64,
  /** Longest internal comment. */
  chatComment: 2_000,
} as const
