/** Every number of the specification and of the contract that channels/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const channelLimits = {
  /** Life of a widget visitor's token, from its last use. */
  visitorTokenSeconds: 30 * 24 * 60 * 60,
} as const
