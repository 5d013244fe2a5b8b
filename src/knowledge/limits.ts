/** Limits that knowledge/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const knowledgeLimits = {
  /** Most chunks of one knowledge item; ours. */
  knowledgeChunks: 5_000,
  /** Knowledge items that a process indexes at once: most of them wait for a page or for a slot below; ours. */
  indexingSlots: { instance: 24, company: 8, shared: 8 },
  /** Batches of chunks that a process embeds and stores at once; ours. */
  indexingBatchSlots: 4,
  /** Interval at which the lease of an indexing is renewed; ours. */
  indexingRenewMs: 5_000,
  /** Tries of an indexing after temporary failures, such as an embedding service that does not respond; ours. */
  indexingTries: 5,
  /** Tries of an indexing when the web page does not respond; ours. */
  crawlTries: 3,
  /** Chunks that are embedded before they are stored; a crash loses at most these; ours. */
  indexingBatch: 96,
  /** Most distinct words of a query in a full-text search; ours. */
  knowledgeQueryWords: 32,
  /** Longest word of the full text in characters; ours, far below the limit of a lexeme. */
  knowledgeWord: 100,
  /** Most candidates of each search, by words and by meaning; ours. */
  knowledgeCandidates: 100,
  /** Attempts of a search while its results are being indexed again; ours. */
  knowledgeSearchTries: 3,
  /** Default page size of the list of unanswered questions. */
  questionsPage: 20,
  /** Days of this list without a period, as of reports; ours. */
  questionsDefaultDays: 28,
  /** Questions that are shown of each group; ours. */
  questionsShown: 20,
  /** Groups of unanswered questions, the newest, that a question is compared with; ours. */
  questionGroupsCompared: 1_000,
  /** Largest vector cache of a process in bytes, where the database has no pgvector; ours, some 120,000 chunks of the built-in embedding. */
  vectorCacheBytes: 256 * 1024 * 1024,
  /** Most chunks whose vectors one statement reads; ours. */
  vectorReadRows: 500,
  /** Vector components that are compared before the event loop continues; ours, about ten milliseconds. */
  vectorNumbersAtOnce: 10_000_000,
  /** Most dimensions of a vector in an index of pgvector. */
  vectorIndexDimensions: 2_000,
} as const
