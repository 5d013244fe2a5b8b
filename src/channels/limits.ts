/** Limits that channels/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const channelLimits = {
  /** Life of a widget visitor's token, from its last use. */
  visitorTokenSeconds: 30 * 24 * 60 * 60,
} as const
