/** Limits that calls/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const callLimits = {
  /** Most `dynamicVariables` of a call. */
  variables: 100,
  /** Longest text of a variable. */
  variableCharacters: 2_000,
  /** Largest `dynamicVariables` as JSON. */
  variablesBytes: 16 * 1024,
  /** How long a customer's telephone rings. */
  ringSeconds: 60,
  /** How long after the ringing a call without a report is looked up before it counts as not made, in milliseconds. */
  doubtMs: 60_000,
  /** Pause between two look-ups of a running call. */
  pollMs: 5_000,
  /** How long after its maximum duration a call without an end counts as failed. */
  overdueMs: 10 * 60_000,
  /** Pause before a step of a call that failed is tried again; it doubles up to `pollMs`; ours. */
  stepRetryBaseMs: 500,
  /** Waiting calls that one transaction looks at, besides those that get a line; ours. */
  waitingBatch: 200,
  /** Shortest pause before a call that the provider was too busy for gets a line again; ours. */
  busyProviderMs: 5_000,
  /** How long a transcript is waited for. */
  transcriptMs: 24 * 60 * 60_000,
  /** Most tries to fetch a recording. */
  recordingTries: 10,
  /** Pause before the second try to fetch a transcript or a recording; it doubles with each failure; ours. */
  recordRetryBaseMs: 2_000,
  /** Longest pause between two tries; ours. */
  recordRetryMaxMs: 10 * 60_000,
  /** How long a report about an unknown call is kept, in milliseconds. */
  reportMs: 24 * 60 * 60_000,
  /** Lease of the work on a call: a worker that does not renew it counts as lost; ours. */
  leaseMs: 10_000,
  /** How often the lease is renewed; ours. */
  renewMs: 3_000,
  /** Largest request of a voice provider's webhook: long transcripts. */
  hookBytes: 16 * 1024 * 1024,
  /** Largest arguments of a tool that an agent calls; ours. */
  toolHookBytes: 1024 * 1024,
  /** Timeout of a request to a voice provider. */
  providerMs: 30_000,
} as const
