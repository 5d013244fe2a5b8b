/** Limits that ports/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const portLimits = {
  /** Most characters that are kept of a page or a file; ours, about 1,500 printed pages. */
  knowledgeDocumentText: 4_000_000,
  /** Most bytes that are read of a crawled page, compressed and uncompressed; ours. */
  crawlBytes: 10 * 1024 * 1024,
  /** Timeout of a crawled page with all its redirects, in milliseconds; ours. */
  crawlMs: 30_000,
  /** Maximum number of redirects of a page; ours (browsers allow 20). */
  crawlRedirects: 5,
  /** Timeout to extract one document, in milliseconds; ours. */
  extractionMs: 60_000,
  /** Most extractor processes at once; ours. */
  extractionProcesses: 2,
  /** Heap of an extractor process, in megabytes; ours. */
  extractionHeapMb: 512,
  /** How long an idle extractor process is kept, in milliseconds; ours. */
  extractionIdleMs: 60_000,
  /** Documents that an extractor process reads before it is replaced; ours. */
  extractionUses: 100,
  /** Largest uncompressed size of a zipped document, in bytes; ours. */
  unpackedBytes: 256 * 1024 * 1024,
  /** Most elements of a document's markup; ours, each takes about a hundred bytes of memory. */
  documentElements: 500_000,
  /** Most cells of a workbook; ours. */
  workbookCells: 500_000,
  /** Timeout of a request for embeddings, in milliseconds; ours. */
  embeddingCallMs: 30_000,
  /** Most texts of one request for embeddings; ours, within every vendor's limit. */
  embeddingBatchTexts: 96,
  /** Most characters of one request for embeddings, unless one text alone has more; ours. */
  embeddingBatchCharacters: 100_000,
  /** Attempts of one request to a remote storage; ours. */
  storageTries: 3,
  /** Timeout of a remote storage to connect, and to respond, in milliseconds; ours. */
  storageTimeoutMs: 30_000,
  /** Characters of a text that are examined to tell markup from text; ours. */
  markupCharacters: 64 * 1024,
  /** Timeout of a model call, in milliseconds. */
  modelCallMs: 60_000,
  /** Timeout to connect to a customer's address, in milliseconds; ours. */
  guardedConnectMs: 10_000,
  /** Levels of nesting in a document's markup; ours. */
  documentDepth: 256,
  /** Longest wait before the second attempt of a request to a remote storage, in milliseconds; it doubles with each; ours. */
  storageRetryMs: 200,
} as const
