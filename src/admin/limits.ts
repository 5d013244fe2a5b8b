/** Limits that admin/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const adminLimits = {
  /** Secrets that are re-encrypted in one transaction when the key changes; ours. */
  sealedBatch: 500,
  /** Default number of entries that `audit:list` prints; ours. */
  auditTake: 20,
  /** Most entries that `audit:list` prints; ours. */
  auditTakeMax: 1_000,
  /** Longest time that a vendor is asked to check credentials or to register a hook, in milliseconds; ours. */
  vendorMs: 60_000,
  /** Rows that an export reads, and writes, at once; ours. */
  exportBatch: 200,
  /** Files that a backup looks for at once; ours. */
  backupBatch: 1_000,
  /** Rows of a company that are deleted by one statement; ours. */
  deleteBatch: 200,
  /** Rows of a company that are looked for at once, to be deleted in batches; ours. */
  deleteSearch: 20_000,
  /** Voice balance of the demo company, in minutes; ours. */
  demoVoiceBalance: 60,
  /** Days of which the demo company has chats, in days: five weeks; ours. */
  demoPastDays: 35,
} as const
