/** Every number of the specification and of the contract that chats/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const chatLimits = {
  /** Chats that lose their folder, a tag or their assistant in one transaction; ours. */
  detachBatch: 1_000,
} as const
