/** Limits that entities/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const entityLimits = {
  /** A rotated refresh token used again within this time (two tabs) is refused without ending the session. */
  refreshReuseGraceMs: 10_000,
  /** Longest name of an access token. */
  accessTokenName: 100,
  /** First characters of an access token, shown as `tokenPrefix`. */
  tokenPrefixLength: 12,
  /** Embedding credits of a new company; every knowledge query spends one. */
  newEmbeddingCredits: 10_000,
  /** Voice balance of a new company, in minutes. */
  newVoiceBalance: 0,
  /** Simultaneous calls of a new company. */
  newVoiceLines: 1,
  /** Longest name of an assistant. */
  assistantName: 120,
  /** Default time limit of a tool's endpoint. */
  toolTimeoutDefaultSeconds: 10,
  /** Levels of nesting of a JSON value that is stored; ours. */
  jsonDepth: 64,
  /** Longest text of a knowledge item that the model receives as a whole; ours, about a quarter of a large context. */
  knowledgeText: 200_000,
  /** Longest web address; ours, the limit of most servers. */
  webAddress: 2_048,
  /** Lease of an indexing: a worker that does not renew it counts as lost; ours. */
  indexingLeaseMs: 15_000,
  /** Pause before the second indexing; it doubles with each failure; ours. */
  indexingRetryBaseMs: 2_000,
  /** Lost workers after which the indexing of an item fails; ours. */
  indexingLosses: 12,
  /** Smallest `chunkSize`, in characters. */
  chunkSizeMin: 200,
  /** Largest `chunkSize`, in characters. */
  chunkSizeMax: 4_000,
  /** Default `chunkSize`, in characters. */
  chunkSizeDefault: 1_000,
  /** Default `chunkOverlap`, in characters. */
  chunkOverlapDefault: 150,
  /** Largest `chunkOverlap` as a share of `chunkSize`. */
  chunkOverlapMaxShare: 1 / 2,
  /** Longest knowledge query. */
  knowledgeQuery: 2_000,
  /** Default number of chunks that a knowledge query returns. */
  knowledgeQueryTakeDefault: 5,
  /** Longest name, account name, phone number or channel ID of a chat; ours, so that an index can hold it. */
  chatText: 500,
  /** Most words and phrases of an assistant's guardrails; ours. */
  guardrailWords: 500,
  /** Longest word or phrase; ours. */
  guardrailWord: 100,
  /** Most patterns of an assistant's guardrails; ours. */
  guardrailPatterns: 50,
  /** Longest pattern; ours. */
  guardrailPattern: 500,
  /** Most hosts of the company in an assistant's guardrails; ours. */
  guardrailHosts: 100,
  /** Longest host, that of a domain name (RFC 1035). */
  guardrailHost: 253,
  /** Most countries whose telephone numbers guardrails find; ours: each is tried for each number. */
  guardrailCountries: 5,
  /** Longest sentence about what is out of scope; ours. */
  guardrailScope: 1_000,
  /** Most comments of a chat, which every read of the chat returns; ours. */
  chatComments: 200,
  /** Longest name of a chat tag. */
  chatTagName: 64,
  /** Longest text of a message. */
  messageText: 16_000,
  /** Time after which an upload is removed that no message uses. */
  unattachedMediaSeconds: 24 * 60 * 60,
  /** Maximum number of model calls for one answer, the first one included. */
  modelTries: 4,
  /** Pause before the second model call of an answer; it doubles with each failure. */
  modelRetryBaseMs: 1_000,
  /** Lease of a turn: a worker that does not renew it counts as lost. */
  turnLeaseMs: 10_000,
  /** Lease of work on a voice agent: a worker that does not renew it counts as lost; ours. */
  voiceLeaseMs: 60_000,
  /** Maximum number of tries to create a voice agent, the first one included; removal is retried until it succeeds; ours. */
  voiceTries: 6,
  /** Pause before the second try; it doubles with each failure; ours. */
  voiceRetryBaseMs: 2_000,
  /** Longest pause between two tries; ours. */
  voiceRetryMaxMs: 10 * 60_000,
  /** A call costs parts of a minute: one of this many. */
  chargedMinuteShare: 10_000,
  /** Seconds of a minute of the voice balance. */
  secondsPerMinute: 60,
  /** Random bytes of an endpoint's secret. */
  eventWebhookSecretBytes: 32,
  /** How long the secret before a rotation signs too. */
  previousSecretMs: 24 * 60 * 60_000,
  /** Time of failures after which an endpoint is disabled. */
  failingEndpointMs: 5 * 24 * 60 * 60_000,
  /** Status with which an endpoint asks for no more events. */
  goneStatus: 410,
  /** Pauses before the second and every later attempt to deliver an event. */
  eventRetryPausesMs: [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000],
  /** Largest random share that is added to such a pause. */
  eventRetryJitter: 0.2,
  /** Longest pause that an endpoint can demand. */
  retryAfterMaxMs: 24 * 60 * 60_000,
  /** Attempts that the log of a delivery keeps, the newest; ours. */
  eventDeliveryAttempts: 50,
  /** How often the tools of an MCP server are listed, in milliseconds … */
  mcpRefreshMs: 3_600_000,
  /** … and the largest random share that is added, so that servers are not all listed at once; ours. */
  mcpRefreshJitter: 0.1,
} as const
