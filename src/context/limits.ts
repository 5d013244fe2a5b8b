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
  /** Statements and transactions of durable work that an instance runs at once, of its 10 database connections; the others stay for requests; ours. */
  workConnections: 5,
  /** New chats of the widget a minute per client address. */
  newChatsOfAddressPerMinute: 60,
  /** New chats of the widget a minute per connection. */
  newChatsOfConnectionPerMinute: 600,
  /** Levels of nesting in what a request sends; ours. */
  inputDepth: 100,
} as const
