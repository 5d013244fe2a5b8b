/**
 * Every number of the specification's Limits table and of the contract, named once. Times end in their unit (`Ms`, `Seconds`), sizes in
 * `Bytes` or `Characters` where the name alone would not say; plain text lengths are Unicode code points after trimming. A number that an
 * operator may change is here as its default and is read from `Config`.
 */
export const limits = {
  // The wire (contract, section 1)

  /** Smallest `take` and `first`. */
  pageMin: 1,
  /** Largest `take` and `first` of every paged list. */
  pageMax: 100,
  /** Page size of every list that names no other: chats, calls, tools, tool calls, knowledge, event deliveries. */
  pageDefault: 20,
  /** Page size of messages (Limits table). */
  messagePageDefault: 30,
  /** Page size of assistants (Limits table). */
  assistantPageDefault: 10,
  /** Largest JSON body; beyond it 413. */
  bodyBytes: 1024 * 1024,
  /** Longest `X-Request-Id` of a caller that is taken over; a longer one is replaced. */
  requestIdCharacters: 128,
  /** How long a browser remembers that another origin may call; ours. */
  crossOriginSeconds: 600,
  /** Tokens in one GraphQL document. */
  graphqlTokens: 5_000,
  /** Levels of nesting in one GraphQL document, introspection apart. */
  graphqlDepth: 12,
  /** Root fields in one GraphQL operation, aliases counted each. */
  graphqlRootFields: 30,
  /** Cost of one GraphQL operation, counted by the sizes of its lists. */
  graphqlCost: 20_000,
  /** Items that a list without paging is reckoned to have, in the cost of an operation; ours. */
  graphqlPlainListSize: 10,
  /** Sets of page sizes of a document whose cost is remembered, and how long one may be as text; ours. */
  costsKept: 100,
  costKeyLength: 200,
  /** Operations that are remembered as valid, and their length together in characters; ours. */
  knownOperations: 1_000,
  knownOperationsLength: 10_000_000,
  /** Accept headers whose answer's type is remembered; ours. */
  knownTypes: 100,
  /** Levels of nesting in what a request sends; ours. */
  inputDepth: 100,
  /** How long the answer to an idempotency key is kept. */
  idempotencySeconds: 24 * 60 * 60,
  /** Longest `Idempotency-Key`; the contract names none, 255 is the field's convention. */
  idempotencyKeyCharacters: 255,

  // The database (contract, section 1: a request is refused within 5 s when it does not answer)

  /** How long a statement waits for a connection; ours. */
  databaseWaitMs: 4_000,
  /** How often the database is asked whether it answers; ours … */
  heartbeatMs: 1_000,
  /** … and how long that answer may take; the two together stay below 5 s; ours. */
  heartbeatAnswerMs: 3_000,
  /** Wait before a lost connection is made again; it doubles with each failure; ours … */
  reconnectMs: 200,
  /** … up to this; ours. */
  reconnectMaxMs: 2_000,
  /** `Retry-After` of a request that the database, or another service, did not answer; ours. */
  unavailableRetrySeconds: 2,
  /** How long Redis may take to accept a connection, and to answer; ours. */
  redisConnectMs: 3_000,
  redisAnswerMs: 1_000,

  // Signing in (contract, section 2)

  /** Life of an access JWT; default of `JWT_TTL_SECONDS` (Limits table: 15 minutes). */
  jwtSeconds: 15 * 60,
  /** Life of a refresh token (Limits table: 7 days). */
  refreshTokenSeconds: 7 * 24 * 60 * 60,
  /** A rotated refresh token used again within this time (two tabs) is refused without ending the session. */
  refreshReuseGraceMs: 10_000,
  /** Sign-in attempts a minute per client address and per email; default of `SIGN_IN_ATTEMPTS_PER_MINUTE` (Limits table). */
  signInAttemptsPerMinute: 10,
  /** Other requests a minute per credential; default of `RATE_LIMIT_PER_MINUTE`. */
  requestsPerMinute: 6_000,
  /** Shortest password. */
  passwordMin: 8,
  /** Longest password. */
  passwordMax: 200,
  /** Shortest `JWT_SECRET`: 32 characters, as long as the HMAC that it keys. */
  jwtSecretCharacters: 32,
  /** Size of `ENCRYPTION_KEY`: the key of AES-256. */
  encryptionKeyBytes: 32,
  /** Secrets that are sealed anew in one transaction when the key changes; ours. */
  sealedBatch: 500,
  /** Longest name of an access token. */
  accessTokenName: 100,
  /** Random base62 characters in an access token. */
  accessTokenRandomCharacters: 36,
  /** Base62 digits of an access token's CRC-32. */
  accessTokenChecksumCharacters: 6,
  /** First characters of an access token, shown as `tokenPrefix`. */
  tokenPrefixLength: 12,
  /** `lastUsedAt` of an access token is written at most once in this time. */
  accessTokenTouchSeconds: 60,

  // Companies (contract, section 3)

  /** Embedding credits of a new company; every knowledge query spends one. */
  newEmbeddingCredits: 10_000,
  /** Voice balance of a new company, in minutes. */
  newVoiceBalance: 0,
  /** Calls that a new company may have on the line at once. */
  newVoiceLines: 1,

  // Assistants, tools, knowledge (contract, section 3)

  /** Longest name of an assistant. */
  assistantName: 120,
  /** Longest name of an assistant folder; ours, as of a chat folder. */
  assistantFolderName: 80,
  /** Longest prompt of an assistant. */
  assistantPrompt: 32_000,
  /** Longest greeting of an assistant. */
  assistantGreeting: 2_000,
  /** Longest language tag of an assistant; ours, as long as BCP 47 asks software to take at least. */
  languageTag: 35,
  /** Longest name of a voice provider, and of a provider's voice; ours. */
  voiceName: 100,
  /** Longest first message of a voice; ours, as of a greeting. */
  voiceFirstMessage: 2_000,
  /** Longest silence after which a call ends (the shortest is 1); ours. */
  voiceSilenceMaxSeconds: 600,
  /** Silence after which a call ends when nothing is said; ours. */
  voiceSilenceDefaultSeconds: 30,
  /** Longest call (the shortest is 1); ours. */
  voiceDurationMaxSeconds: 4 * 60 * 60,
  /** Longest call when nothing is said; ours. */
  voiceDurationDefaultSeconds: 600,
  /** Tools, knowledge items or chunks that one statement copies; ours. */
  copyBatch: 5_000,
  /** Highest temperature; the lowest is 0. */
  temperatureMax: 2,
  /** Longest name of a tool (`^[A-Za-z0-9_-]{1,64}$`). */
  toolName: 64,
  /** Longest description of a tool. */
  toolDescription: 1_024,
  /** Shortest time that a tool's endpoint may be given. */
  toolTimeoutMinSeconds: 1,
  /** Longest time that a tool's endpoint may be given. */
  toolTimeoutMaxSeconds: 60,
  /** Time that a tool's endpoint is given when nothing is said. */
  toolTimeoutDefaultSeconds: 10,
  /** Longest address of a tool; ours. */
  toolUrl: 2_000,
  /** Longest secret of a tool; ours. */
  toolSecret: 500,
  /** Largest `params` of a tool, as JSON; ours, many times what a model can use. */
  toolParamsBytes: 32 * 1024,
  /** Levels of nesting of a JSON value that is stored; ours. */
  jsonDepth: 64,
  /** How long a tool's `params` may take to be understood … */
  toolParamsMs: 1_000,
  /** … and a call's arguments to be checked by them; ours. A pattern, or a reference to itself, could go on for ever. */
  toolArgumentsMs: 200,
  /** Compiled `params` that are kept; ours. */
  toolValidators: 500,
  /** Most faults of a call's arguments that are told; ours. */
  toolArgumentFaults: 10,
  /** Longest text of a knowledge item that is given to the model as it is; ours, about a quarter of a large context. */
  knowledgeText: 200_000,
  /** Longest text of a knowledge item that is searched; ours, as much as a body holds. */
  knowledgeSearchedText: 1_000_000,
  /** Most text that is taken of a page or a file; ours, some 1,500 printed pages. */
  knowledgeDocumentText: 4_000_000,
  /** Most chunks of one knowledge item; ours. */
  knowledgeChunks: 5_000,
  /** Longest name of a knowledge item. */
  knowledgeName: 200,
  /** Longest web address; ours, as of most servers. */
  webAddress: 2_048,
  /** Most that is read of a crawled page, packed and unpacked; ours. */
  crawlBytes: 10 * 1024 * 1024,
  /** Time for a crawled page with all its redirects; ours. */
  crawlMs: 30_000,
  /** Redirects that are followed to a page; ours, as browsers' is 20. */
  crawlRedirects: 5,
  /** Time to read the text of one document; ours. */
  extractionMs: 60_000,
  /** Processes that read documents at once; ours. */
  extractionProcesses: 2,
  /** Memory of a process that reads documents; ours. */
  extractionHeapMb: 512,
  /** How long a process that reads documents is kept for the next; ours. */
  extractionIdleMs: 60_000,
  /** Documents that a process reads before another takes its place; ours. */
  extractionUses: 100,
  /** Most that the parts of a packed document may unpack to; ours. */
  unpackedBytes: 256 * 1024 * 1024,
  /** Most elements of a document's markup; ours, each takes some hundred bytes to read. */
  documentElements: 500_000,
  /** Most cells of a workbook; ours. */
  workbookCells: 500_000,
  /** Knowledge items that a process indexes at once; ours. */
  indexingConcurrency: 4,
  /** How long the worker of an indexing is believed to live after its last sign of life; ours … */
  indexingLeaseMs: 15_000,
  /** … which it gives this often; ours. */
  indexingRenewMs: 5_000,
  /** How often items are looked for that a crash or a lost wake-up left behind; ours. */
  indexingSweepSeconds: 2,
  /** Indexings of one state of an item that may fail for what may pass, such as embeddings that do not answer; ours. */
  indexingTries: 5,
  /** Indexings that may fail since the page does not answer; ours. */
  crawlTries: 3,
  /** Wait before the second indexing; it doubles with each; ours. */
  indexingRetryBaseMs: 2_000,
  /** Indexings of one state of an item that may be lost with their worker; ours. */
  indexingLosses: 12,
  /** Chunks that are embedded before they are put by, so that a crash loses no more; ours. */
  indexingBatch: 96,
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
  /** Longest time that one request for embeddings may take; ours. */
  embeddingCallMs: 30_000,
  /** Most texts of one request for embeddings; ours, within what every vendor takes. */
  embeddingBatchTexts: 96,
  /** Most characters of one request for embeddings, unless one text alone has more; ours. */
  embeddingBatchCharacters: 100_000,
  /** Most different words of a query that the full text is asked for; ours. */
  knowledgeQueryWords: 32,
  /** Most characters of a word that the full text keeps; ours, far below what a lexeme can hold. */
  knowledgeWord: 100,
  /** Most chunks that each half of a search, by words and by meaning, brings in; ours. */
  knowledgeCandidates: 100,
  /** Times that a search is made while what it found is indexed anew; ours. */
  knowledgeSearchTries: 3,
  /** Most memory for remembered vectors of a process, where the database has no pgvector; ours, some 120,000 chunks of the built-in embedding. */
  vectorCacheBytes: 256 * 1024 * 1024,
  /** Most chunks whose vectors one statement reads; ours. */
  vectorReadRows: 500,
  /** Numbers that are compared before others have their turn; ours, some ten milliseconds. */
  vectorNumbersAtOnce: 10_000_000,
  /** Longest vector that an index of pgvector holds. */
  vectorIndexDimensions: 2_000,
  /** Longest knowledge query. */
  knowledgeQuery: 2_000,
  /** Most chunks that one knowledge query answers. */
  knowledgeQueryTakeMax: 50,
  /** Chunks that a knowledge query answers when nothing is said. */
  knowledgeQueryTakeDefault: 5,

  // Reading (ours)

  /** Statements that a connection keeps prepared for planned reads. */
  preparedStatements: 300,
  /** Times that a statement comes before it is prepared. */
  preparedAfter: 3,

  // Chats, messages, media (Limits table; contract, section 3)

  /** Longest name, account name, phone number or channel id of a chat; ours, so that an index can hold it. */
  chatText: 500,
  /** Longest label; a label is the name of a tag. */
  chatLabel: 64,
  /** Longest name of a chat tag. */
  chatTagName: 64,
  /** Longest name of a chat folder. */
  chatFolderName: 80,
  /** Longest internal comment. */
  chatComment: 2_000,
  /** Chats that are unfiled, or freed of a tag or an assistant, in one transaction. */
  detachBatch: 1_000,
  /** Chats with a running turn, or an answer on its way, that lose their assistant in one transaction; ours. */
  busyChatBatch: 50,
  /** Color of a folder or a tag when nothing is said. */
  defaultColor: "#808080",
  /** Longest text of a message. */
  messageText: 16_000,
  /** Most `mediaIds` of one message. */
  attachments: 10,
  /** Largest upload; beyond it 413. */
  uploadBytes: 25 * 1024 * 1024,
  /** What a multipart body may hold besides its file; ours. */
  formOverheadBytes: 1024 * 1024,
  /** How long the rest of a refused upload is still taken, so that its sender reads the answer; ours. */
  refusedUploadMs: 5_000,
  /** Longest file name; ours, as of most file systems. */
  filename: 255,
  /** An upload that no message shows is removed after this time. */
  unattachedMediaSeconds: 24 * 60 * 60,
  /** A stored file without a row, and an unfinished upload, are a crash's after this time; ours. */
  strayFileSeconds: 60 * 60,
  /** How often the storage is looked through for those; ours. */
  strayFileSweepSeconds: 6 * 60 * 60,
  /** Files that are removed together; ours. */
  mediaBatch: 100,
  /** Tries to hand a file to a remote storage; ours. */
  storageTries: 3,
  /** How long a remote storage may take to connect, and to answer; ours. */
  storageTimeoutMs: 30_000,
  /** How much of a text is looked at to tell markup from text; ours. */
  markupCharacters: 64 * 1024,
  /** Life of a signed media url in an answer. */
  mediaUrlSeconds: 60 * 60,
  /** Life of a signed media url that is handed to a channel. */
  mediaUrlForChannelSeconds: 7 * 24 * 60 * 60,

  // The assistant's turn (Limits table; contract, section 5)

  /** Quiet time after a customer's message before the reply is due; default of `REPLY_DEBOUNCE_MS`. */
  replyDebounceMs: 4_000,
  /** Longest time from a burst's first message to its reply being due; default of `REPLY_MAX_WAIT_MS`. */
  replyMaxWaitMs: 7_000,
  /** Age up to which messages are shown to the model; default of `CONTEXT_WINDOW_MS`. */
  contextWindowMs: 10 * 60_000,
  /** Most messages of the window that are shown to the model, the newest ones; ours, so that a flood does not end in a request that no model takes. */
  contextMessages: 500,
  /** Most hand-offs and returns that the model is told of; ours. */
  contextNotes: 10,
  /** Inactivity after which an automatic hand-off comes back; default of `AUTO_RESUME_AFTER_MS`. */
  autoResumeAfterMs: 10 * 60_000,
  /** Calls of the model for one answer, the first one included. */
  modelTries: 4,
  /** Wait before the second model call of an answer; it doubles with each failure. */
  modelRetryBaseMs: 1_000,
  /** Longest time that one model call may take. */
  modelCallMs: 60_000,
  /** How long the worker of a turn is believed to live after its last sign of life … */
  turnLeaseMs: 10_000,
  /** … which it gives this often. */
  turnRenewMs: 3_000,
  /** How long it is kept what a turn cost; ours, a quarter of a year. */
  turnRetentionSeconds: 90 * 24 * 60 * 60,
  /** How often replies are looked for that a crash or a lost wake-up left behind. */
  replySweepSeconds: 2,
  /** Most rows that one look of a sweep takes. */
  sweepBatch: 500,
  /** How long a voice provider may take to make, change or remove an agent; ours, and well within the lease. */
  voiceProviderMs: 30_000,
  /** How long the worker of a voice agent is believed to live; ours. */
  voiceLeaseMs: 60_000,
  /** Tries to make a voice agent, the first one included; removing one is tried until it succeeds; ours. */
  voiceTries: 6,
  /** Wait before the second try; it doubles with each; ours. */
  voiceRetryBaseMs: 2_000,
  /** Longest wait between two tries; ours. */
  voiceRetryMaxMs: 10 * 60_000,
  /** How often voice agents are looked for that a crash or a lost wake-up left behind; ours. */
  voiceSweepSeconds: 10,
  /** How often the clock looks at its table; a job within this time is run at its own instant. */
  clockTickMs: 1_000,
  /** Jobs of one kind that run at once in a process. */
  clockConcurrency: 50,
  /** How much later than its time a job is woken. */
  clockSlackMs: 5,
  /** Database connections of the clock. */
  clockConnections: 3,
  /** How long the clock believes a job to be running that gives no sign of life. */
  clockLockMs: 10_000,
  /** How long MongoDB may take to answer at start. */
  mongoConnectMs: 3_000,
  /** How often what is kept for a time only is cleared away. */
  retentionSeconds: 600,
  /** Rows cleared away in one statement. */
  retentionBatch: 5_000,
  /** Rounds of tool calls in one turn; after them the model answers without tools. */
  toolRounds: 8,
  /** Time for tool calls in one turn; after it the model answers without tools. */
  turnSeconds: 60,
  /** Most tools that a model is offered; ours, as of the vendors. */
  offeredTools: 128,
  /** Most tags that a model is offered to suggest; ours. */
  suggestedTags: 200,
  /** A call that is pending for so long was lost with its server; ours, well behind the longest timeout of a tool. */
  lostToolCallSeconds: 180,
  /** How often those are looked for; ours. */
  lostToolCallSweepSeconds: 30,
  /** Times that a newer customer message may restart a running turn. */
  turnRestarts: 1,
  /** A sweep looks at least once in this share of the time that it watches … */
  sweepShare: 1 / 10,
  /** … and at least this often. */
  sweepMaxMs: 30_000,

  // Tool webhooks (contract, section 6)

  /** Most that is read of an integrator's answer. */
  toolResponseReadBytes: 256 * 1024,
  /** Most of an integrator's answer that the model is shown. */
  toolResponseShownBytes: 16 * 1024,

  /** How long an address that a customer chose may take to accept a connection; ours. */
  outsideConnectMs: 10_000,

  // Events (contract, section 7)

  /** How long events can be resumed from. */
  eventRetentionSeconds: 24 * 60 * 60,
  /** How long the sequencer gathers commits into one batch when little happens … */
  eventBatchMs: 5,
  /** … and at most, when much does: placing many events at once costs the database a third of placing them one by one. */
  eventBatchMaxMs: 50,
  /** Most events that get their places in one transaction, and that a reader takes at once. */
  eventBatch: 500,
  /** How often the sequencer looks for events that an instance left behind. */
  eventSweepMs: 1_000,
  /** Live events that may wait for a slow subscriber before it is closed with 1013. */
  subscriberBacklog: 1_000,
  /** How often the words of a running answer are told at most; ours. */
  progressMs: 250,
  /** Most of an answer that is told while it is being made, as JSON; ours, since PostgreSQL notifies in at most 8,000 bytes. */
  progressBytes: 7_500,
  /** How often an instance says which chats are watched; ours. */
  watchSignMs: 5_000,
  /** Watched chats that an instance remembers; ours. */
  watchedChats: 10_000,
  /** Parsed documents that are remembered for sockets. */
  socketDocuments: 500,
  /** Open sockets of a revoked credential are closed within this time; they are looked up this often when no wake-up came. */
  revokedSocketMs: 1_000,
  /** Waits before the second and each later attempt of an outbound event webhook; jitter is added. */
  eventWebhookRetrySeconds: [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600],
  /** An endpoint that failed for this long is disabled. */
  eventWebhookGiveUpSeconds: 5 * 24 * 60 * 60,
  /** How long the old secret of an event webhook stays valid after a rotation. */
  eventWebhookSecretOverlapSeconds: 24 * 60 * 60,

  // Channels (contract, section 8)

  /** Attempts to deliver one message to its channel. */
  deliveryAttempts: 8,
  /** Wait before the second delivery attempt; it doubles with each. */
  deliveryBackoffMs: 1_000,
  /** Longest wait between two delivery attempts. */
  deliveryBackoffMaxMs: 5 * 60_000,
  /** Life of a widget visitor's token, from its last use. */
  visitorTokenSeconds: 30 * 24 * 60 * 60,

  // Calls (Limits table; contract, section 3)

  /** How long a call waits for a free line before it ends as `not_dialed`; default of `CALL_QUEUE_WAIT_MS`. */
  callQueueWaitMs: 5 * 60_000,
  /** Real time that a simulated call takes; the contract says "about three seconds". */
  simulatedCallMs: 3_000,
} as const
