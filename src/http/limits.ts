/** Limits that http/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const httpLimits = {
  /** Longest `X-Request-Id` of a caller that is kept; a longer one is replaced. */
  requestIdCharacters: 128,
  /** How long a browser remembers that another origin may call; ours. */
  crossOriginSeconds: 600,
  /** Size of a multipart body besides its file, in bytes; ours. */
  formOverheadBytes: 1024 * 1024,
  /** How long the rest of a refused upload is still read, so that its sender reads the response; ours. */
  refusedUploadMs: 5_000,
  /** How long the connection of a malformed request stays open, so that its sender reads the response; ours. */
  refusedRequestMs: 1_000,
  /** Pipelined requests that wait on a connection before it is not read any more; ours. */
  pipelinedRequests: 100,
  /** Size from which a response … */
  largeResponseBytes: 64 * 1024,
  /** … ends with its connection when its client reads nothing of it for so long, in milliseconds; ours. */
  unreadResponseMs: 60_000,
  /** How long a stop goes on accepting connections while more and more arrive; ours. */
  acceptAtStopMs: 5_000,
  /** Longest round of the event loop in which the process counts as idle; ours. */
  idleRoundMs: 1,
} as const
