/** Limits that chats/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const chatLimits = {
  /** Page size of chats (Limits table). */
  pageDefault: 20,
  /** Chats that lose their folder, a tag or their assistant in one transaction; ours. */
  detachBatch: 1_000,
  /** Events of a deleted chat that are deleted in one statement; ours. */
  forgetBatch: 1_000,
} as const
