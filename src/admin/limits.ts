/** Limits that admin/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const adminLimits = {
  /** Secrets that are re-encrypted in one transaction when the key changes; ours. */
  sealedBatch: 500,
} as const
