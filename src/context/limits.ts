/** Limits that context/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const contextLimits = {
  /** Smallest `take` and `first`. */
  pageMin: 1,
  /** Largest `take` and `first` of every paged list. */
  pageMax: 100,
  /** How long the answer to an idempotency key is kept. */
  idempotencySeconds: 24 * 60 * 60,
  /** Longest `Idempotency-Key`; the contract names none, 255 is the field's convention. */
  idempotencyKeyCharacters: 255,
  /** `lastUsedAt` of an access token is written at most once in this time. */
  accessTokenTouchSeconds: 60,
  /** For so long after a sign-in, or after a token was made, its lists are not read on a replica; far longer than one that is read may be behind; ours. */
  newCredentialSeconds: 30,
  /**
   * Statements and transactions that an instance runs at once, of its 10 database connections: those of customers' messages and of durable work, with
   * which some are left to people's requests; those of durable work alone; and its own of one company, since the rows of a company may be locked; ours.
   */
  connectionUses: { system: 8, work: 5, workOfCompany: 4 },
  /** New chats of the widget a minute per client address. */
  newChatsOfAddressPerMinute: 60,
  /** New chats of the widget a minute per connection. */
  newChatsOfConnectionPerMinute: 600,
  /** When requests of a company wait for those of others; ours. */
  fairTurns: {
    /** Requests that are served at once while there is no time to spare, divided among the companies whose requests come; at least one each. */
    atOnce: 2,
    /** The process has no time to spare from this part of a time in which the event loop was not idle. */
    busyFrom: 0.8,
    /** The time over which that is measured, in milliseconds. */
    measureMs: 50,
    /** After this time, in milliseconds, a request counts no more: what takes so long is not the processor. */
    longestMs: 250,
    /** For so long after its last request a company counts as one whose requests come, in milliseconds. */
    activeMs: 1_000,
  },
  /** Rows of a company in a list without pages: access tokens, chat tags, chat folders, assistant folders; ours. */
  plainListRows: 5_000,
  /** What operations may read from the database; ours. */
  reads: {
    /** Bytes that one operation may read: 100 messages of the longest text are 6.4 MB. */
    operationBytes: 16 * 2 ** 20,
    /** Bytes up to which an operation is never refused because of others. */
    smallBytes: 256 * 1024,
    /** Bytes that the larger operations of a company, or those of its visitors, may hold at once in an instance. */
    companyBytes: 48 * 2 ** 20,
    /** After how many seconds a refused client should try again. */
    retrySeconds: 1,
  },
  /** Levels of nesting in what a request sends; ours. */
  inputDepth: 100,
} as const
