/** Every number of the specification and of the contract that knowledge/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const knowledgeLimits = {
  /** Most chunks of one knowledge item; ours. */
  knowledgeChunks: 5_000,
  /** Knowledge items that a process indexes at once; ours. */
  indexingConcurrency: 4,
  /** … which it gives this often; ours. */
  indexingRenewMs: 5_000,
  /** Indexings of one state of an item that may fail for what may pass, such as embeddings that do not answer; ours. */
  indexingTries: 5,
  /** Indexings that may fail since the page does not answer; ours. */
  crawlTries: 3,
  /** Chunks that are embedded before they are put by, so that a crash loses no more; ours. */
  indexingBatch: 96,
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
} as const
