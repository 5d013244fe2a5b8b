/** Defaults of environment variables, bounds of their values, and numbers that several folders use, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const rootLimits = {
  /** Life of an access JWT; default of `JWT_TTL_SECONDS` (Limits table: 15 minutes). */
  jwtSeconds: 15 * 60,
  /** Sign-in attempts a minute per client address and per email; default of `SIGN_IN_ATTEMPTS_PER_MINUTE` (Limits table). */
  signInAttemptsPerMinute: 10,
  /** Other requests a minute per credential; default of `RATE_LIMIT_PER_MINUTE`. */
  requestsPerMinute: 6_000,
  /** Requests a minute per client address without credentials, and of the widget; default of `RATE_LIMIT_ANONYMOUS_PER_MINUTE`. */
  anonymousRequestsPerMinute: 600,
  /** Shortest `JWT_SECRET`: 32 characters, as long as the HMAC that it keys. */
  jwtSecretCharacters: 32,
  /** Most typing errors in the name of an environment variable or a command for which another name is proposed; ours. */
  misspeltEdits: 2,
  /** Size of `ENCRYPTION_KEY`: the key of AES-256. */
  encryptionKeyBytes: 32,
  /** Quiet time after a customer's message before the reply is due; default of `REPLY_DEBOUNCE_MS`. */
  replyDebounceMs: 4_000,
  /** Longest time from a burst's first message to its reply being due; default of `REPLY_MAX_WAIT_MS`. */
  replyMaxWaitMs: 7_000,
  /** Turns of assistants that an instance runs at once; default of `TURNS_AT_ONCE`; ours: 250 turns a second with a model of 2 s, twice. */
  turnsAtOnce: 1_000,
  /** Age up to which messages are shown to the model; default of `CONTEXT_WINDOW_MS`. */
  contextWindowMs: 10 * 60_000,
  /** Inactivity after which an automatic hand-off comes back; default of `AUTO_RESUME_AFTER_MS`. */
  autoResumeAfterMs: 10 * 60_000,
  /** Hours without a message after which a stretch of a chat ends; default of `STRETCH_QUIET_HOURS`. */
  stretchQuietHours: 24,
  /** Most of these hours; ours, 30 days. */
  stretchQuietHoursMax: 30 * 24,
  /** How long a call waits for a free line before it ends as `not_dialed`; default of `CALL_QUEUE_WAIT_MS`. */
  callQueueWaitMs: 5 * 60_000,
  /** Largest JSON body; beyond it 413. */
  bodyBytes: 1024 * 1024,
  /** Tokens in one GraphQL document. */
  graphqlTokens: 5_000,
  /** Largest upload; beyond it 413. */
  uploadBytes: 25 * 1024 * 1024,
  /** Bytes of all files of a company; default of `MEDIA_BYTES_PER_COMPANY`: 10 GB. */
  mediaBytesPerCompany: 10 * 1024 ** 3,
  /** Age after which the bodies of tool calls are deleted; default of `TOOL_LOG_RETENTION_DAYS`. */
  toolLogRetentionDays: 30,
  /** Age after which audit entries are deleted; default of `AUDIT_RETENTION_DAYS`. */
  auditRetentionDays: 365,
  /** Largest of these numbers of days, and of `MESSAGE_RETENTION_DAYS`; ours, 27 years. */
  retentionDaysMax: 10_000,
  /** Life of a refresh token (Limits table: 7 days). */
  refreshTokenSeconds: 7 * 24 * 60 * 60,
  /** How long a statement waits for a database connection; ours. */
  databaseWaitMs: 4_000,
  /** After this time without a statement PostgreSQL ends a transaction, so that an unreachable instance keeps no row locked; ours. */
  idleTransactionMs: 30_000,
  /** Interval at which the database is checked; ours. */
  heartbeatMs: 1_000,
  /** Timeout of that check; together with the interval it stays below the 5 s of a 503 (contract, section 1); ours. */
  heartbeatAnswerMs: 3_000,
  /** First wait before a lost connection is made again; it doubles with each failure; ours. */
  reconnectMs: 200,
  /** Longest such wait; ours. */
  reconnectMaxMs: 2_000,
  /** `Retry-After` of a request while the database or another service does not answer; ours. */
  unavailableRetrySeconds: 2,
  /** Interval at which a repeated line of the log is counted and written once; ours. */
  repeatedLogMs: 10_000,
  /** Lines of the log in memory, in bytes, that standard error does not take; further ones are dropped; ours. */
  unwrittenLogBytes: 4 * 1024 * 1024,
  /** Timeout to connect to Redis; ours. */
  redisConnectMs: 3_000,
  /** Timeout of a command of Redis; ours. */
  redisAnswerMs: 1_000,
} as const
