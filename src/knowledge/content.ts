import type { Services } from "../context/services.js"
import type { PageVersion } from "../ports/crawler.js"
import { type DocumentBytes, ExtractionFailure } from "../ports/extractor.js"
import { fileText } from "./files.js"
import type { Indexing } from "./indexing.js"

/** An item cannot be indexed; `message` is a sentence for its owner. */
export class IndexingFailure extends Error {
  override name = "IndexingFailure"

  constructor(
    message: string,
    /** Whether it may have more luck later. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}

/** The text that an item is to be indexed by. */
export interface Content {
  text: string
  /** Whether it may be another one than the last time. */
  isChanged: boolean
  /** What its page said of its version. */
  version: PageVersion | null
}

/** Reads what an item is made from: its own text, its file, or its page if that changed. */
export async function readItem(services: Services, { item, media }: Indexing, signal: AbortSignal): Promise<Content> {
  if (item.kind === "url") return readPage(services, item, signal)
  // What was read of a file stays: another file is another text, and forgotten when it comes.
  const text = item.resourceContent ?? (await inSentences("file", fileText(services, media!, signal)))
  return { text, isChanged: true, version: null }
}

interface PageItem {
  resourceUrl: string | null
  resourceContent: string | null
  resourceEtag: string | null
  resourceLastModified: string | null
}

async function readPage({ crawler, extractor }: Services, item: PageItem, signal: AbortSignal): Promise<Content> {
  const { resourceContent: known, resourceEtag: etag, resourceLastModified: lastModified } = item
  const page = await crawler.fetch(item.resourceUrl!, known === null ? null : { etag, lastModified }, signal)
  if (!page) return { text: known!, isChanged: false, version: null }
  const { bytes, type, charset } = page
  const document: DocumentBytes = { bytes, type, charset }
  return { text: await inSentences("page", extractor.text(document, signal)), isChanged: true, version: page }
}

/** What an extractor says in a clause, as a sentence. */
async function inSentences<T>(noun: "file" | "page", work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw error instanceof ExtractionFailure ? new IndexingFailure(`The ${noun} ${error.message}`, error.isWorthRetrying) : error
  })
}
