/** Limits that database/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const databaseLimits = {
  /** Tools, knowledge items or chunks that one statement copies; ours. */
  copyBatch: 5_000,
  /** Prepared statements of planned reads per connection. */
  preparedStatements: 300,
  /** Runs of a statement before it is prepared. */
  preparedAfter: 3,
} as const
