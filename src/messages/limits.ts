/** Limits that messages/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const messageLimits = {
  /** Maximum number of `mediaIds` of one message. */
  attachments: 10,
} as const
