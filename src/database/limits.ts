/** Limits that database/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const databaseLimits = {
  /** Tools, knowledge items or chunks that one statement copies; ours. */
  copyBatch: 5_000,
  /** Prepared statements of planned reads per connection. */
  preparedStatements: 300,
  /** Runs of a statement before it is prepared. */
  preparedAfter: 3,
  /** Connections to the replica; as many as to the primary. */
  replicaConnections: 10,
  /** Interval at which the replica is asked how far it is; ours. */
  replicaLookMs: 500,
  /** Time after which a replica that does not answer is left; ours. */
  replicaAnswerMs: 2_000,
  /** Age above which the replica is not read; ours. */
  replicaOldestMs: 5_000,
  /** Positions that the replica is compared with: those of more than its oldest age; ours. */
  replicaMarks: 20,
} as const
