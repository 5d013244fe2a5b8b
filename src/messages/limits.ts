/** Every number of the specification and of the contract that messages/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const messageLimits = {
  /** Maximum number of `mediaIds` of one message. */
  attachments: 10,
} as const
