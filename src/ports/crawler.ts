import type { DocumentBytes } from "./extractor.js"

/** What a page said of its version, to be asked whether there is a newer one. */
export interface PageVersion {
  etag: string | null
  lastModified: string | null
}

/** A page as it came. */
export interface Page extends DocumentBytes, PageVersion {}

/** Fetches single pages from addresses that customers choose; it follows redirects and no links. */
export interface Crawler {
  /** The page at an address, or null when it still is the version that is known; throws `CrawlFailure` and nothing else. */
  fetch(url: string, known: PageVersion | null, signal: AbortSignal): Promise<Page | null>
}

/** No page came; `message` is one sentence without internals, fit to be shown. */
export class CrawlFailure extends Error {
  override name = "CrawlFailure"

  constructor(
    message: string,
    /** Whether the same address may have more luck later. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}
