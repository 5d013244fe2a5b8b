/** Every number of the specification and of the contract that entities/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
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
  /** Calls that a new company may have on the line at once. */
  newVoiceLines: 1,
  /** Longest name of an assistant. */
  assistantName: 120,
  /** Time that a tool's endpoint is given when nothing is said. */
  toolTimeoutDefaultSeconds: 10,
  /** Levels of nesting of a JSON value that is stored; ours. */
  jsonDepth: 64,
  /** Longest text of a knowledge item that is given to the model as it is; ours, about a quarter of a large context. */
  knowledgeText: 200_000,
  /** Longest web address; ours, as of most servers. */
  webAddress: 2_048,
  /** How long the worker of an indexing is believed to live after its last sign of life; ours … */
  indexingLeaseMs: 15_000,
  /** Wait before the second indexing; it doubles with each; ours. */
  indexingRetryBaseMs: 2_000,
  /** Indexings of one state of an item that may be lost with their worker; ours. */
  indexingLosses: 12,
  /** Smallest `chunkSize`, in characters. */
  chunkSizeMin: 200,
  /** Largest `chunkSize`, in characters. */
  chunkSizeMax: 4_000,
  /** `chunkSize` when nothing is said, in characters. */
  chunkSizeDefault: 1_000,
  /** `chunkOverlap` when nothing is said, in characters. */
  chunkOverlapDefault: 150,
  /** Largest `chunkOverlap` as a share of `chunkSize`. */
  chunkOverlapMaxShare: 1 / 2,
  /** Longest knowledge query. */
  knowledgeQuery: 2_000,
  /** Chunks that a knowledge query answers when nothing is said. */
  knowledgeQueryTakeDefault: 5,
  /** Longest name, account name, phone number or channel id of a chat; ours, so that an index can hold it. */
  chatText: 500,
  /** Longest name of a chat tag. */
  chatTagName: 64,
  /** Longest text of a message. */
  messageText: 16_000,
  /** An upload that no message shows is removed after this time. */
  unattachedMediaSeconds: 24 * 60 * 60,
  /** Calls of the model for one answer, the first one included. */
  modelTries: 4,
  /** Wait before the second model call of an answer; it doubles with each failure. */
  modelRetryBaseMs: 1_000,
  /** How long the worker of a turn is believed to live after its last sign of life … */
  turnLeaseMs: 10_000,
  /** How long the worker of a voice agent is believed to live; ours. */
  voiceLeaseMs: 60_000,
  /** Tries to make a voice agent, the first one included; removing one is tried until it succeeds; ours. */
  voiceTries: 6,
  /** Wait before the second try; it doubles with each; ours. */
  voiceRetryBaseMs: 2_000,
  /** Longest wait between two tries; ours. */
  voiceRetryMaxMs: 10 * 60_000,
} as const
