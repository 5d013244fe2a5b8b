/** Every number of the specification and of the contract that ports/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const portLimits = {
  /** Most text that is taken of a page or a file; ours, some 1,500 printed pages. */
  knowledgeDocumentText: 4_000_000,
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
  /** Longest time that one request for embeddings may take; ours. */
  embeddingCallMs: 30_000,
  /** Most texts of one request for embeddings; ours, within what every vendor takes. */
  embeddingBatchTexts: 96,
  /** Most characters of one request for embeddings, unless one text alone has more; ours. */
  embeddingBatchCharacters: 100_000,
  /** Tries to hand a file to a remote storage; ours. */
  storageTries: 3,
  /** How long a remote storage may take to connect, and to answer; ours. */
  storageTimeoutMs: 30_000,
  /** How much of a text is looked at to tell markup from text; ours. */
  markupCharacters: 64 * 1024,
  /** Longest time that one model call may take. */
  modelCallMs: 60_000,
  /** How long an address that a customer chose may take to accept a connection; ours. */
  outsideConnectMs: 10_000,
} as const
