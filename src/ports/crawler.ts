import type { DocumentBytes } from "./extractor.js"

/** A page's version headers, for a conditional request. */
export interface PageVersion {
  etag: string | null
  lastModified: string | null
}

/** A fetched page. */
export interface Page extends DocumentBytes, PageVersion {
  bytes: Uint8Array
}

/** Fetches single pages from URLs that companies choose; it follows redirects, but not links. */
export interface Crawler {
  /** Fetches a page; null when it has not changed. Throws only `CrawlFailure`. */
  fetch(url: string, known: PageVersion | null, signal: AbortSignal): Promise<Page | null>
}

/** A page could not be fetched; `message` is one sentence without internals that may be shown. */
export class CrawlFailure extends Error {
  override name = "CrawlFailure"

  constructor(
    message: string,
    /** Whether a retry may succeed. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}
