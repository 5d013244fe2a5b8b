import type { Services } from "../context/services.js"
import type { PageVersion } from "../ports/crawler.js"
import { type DocumentBytes, ExtractionFailure } from "../ports/extractor.js"
import { fileText } from "./files.js"
import type { Indexing } from "./index-store.js"

/** An item cannot be indexed; `message` is a sentence for its owner. */
export class IndexingFailure extends Error {
  override name = "IndexingFailure"

  constructor(
    message: string,
    /** Whether a retry may succeed. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}

/** The text to index for an item. */
export interface Content {
  text: string
  /** Whether the text may differ from that of the last indexing. */
  isChanged: boolean
  /** The page's version headers. */
  version: PageVersion | null
}

/** Reads an item's content: its own text, its file, or its page if that changed. */
export async function readItem(
  services: Pick<Services, "crawler" | "extractor" | "storage">,
  { item, media }: Indexing,
  signal: AbortSignal,
): Promise<Content> {
  if (item.kind === "url") return readPage(services, item, signal)
  // A file's text is read once: it is cleared when the item gets another file.
  const text = item.resourceContent ?? (await inSentences("file", fileText(services, media!, signal)))
  return { text, isChanged: true, version: null }
}

interface PageItem {
  companyId: string
  resourceUrl: string | null
  resourceContent: string | null
  resourceEtag: string | null
  resourceLastModified: string | null
}

async function readPage(
  { crawler, extractor }: Pick<Services, "crawler" | "extractor">,
  item: PageItem,
  signal: AbortSignal,
): Promise<Content> {
  const { resourceContent: known, resourceEtag: etag, resourceLastModified: lastModified } = item
  const page = await crawler.fetch(item.resourceUrl!, known === null ? null : { etag, lastModified }, signal)
  if (!page) return { text: known!, isChanged: false, version: null }
  const { bytes, type, charset } = page
  const document: DocumentBytes = { bytes, type, charset }
  return { text: await inSentences("page", extractor.text(item.companyId, document, signal)), isChanged: true, version: page }
}

/** The clause of an extractor's error as a sentence. */
async function inSentences<T>(noun: "file" | "page", work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw error instanceof ExtractionFailure ? new IndexingFailure(`The ${noun} ${error.message}`, error.isWorthRetrying) : error
  })
}
