/** Every number of the specification and of the contract that admin/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const adminLimits = {
  /** Secrets that are re-encrypted in one transaction when the key changes; ours. */
  sealedBatch: 500,
} as const
