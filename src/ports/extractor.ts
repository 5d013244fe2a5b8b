/** A document as it came: its bytes and what is known of them. */
export interface DocumentBytes {
  bytes: Uint8Array
  /** Its media type without parameters, such as `application/pdf`. */
  type: string
  /** The encoding that its sender says its text has, if it does. */
  charset?: string | null
}

/** How a text is split: most characters of a chunk, and how many it may repeat of the one before it. */
export interface Chunking {
  size: number
  overlap: number
}

/**
 * Reads strangers' documents where a poisoned one can neither stop this process nor exhaust its memory. Both functions throw
 * `ExtractionFailure` and nothing else.
 */
export interface Extractor {
  /** The text of a document, in Markdown as far as it has headings, lists and tables. */
  text(document: DocumentBytes, signal: AbortSignal): Promise<string>
  /** A text in pieces, each at most as long as said, cut where it hurts least. */
  split(text: string, chunking: Chunking, signal: AbortSignal): Promise<string[]>
  close(): Promise<void>
}

/** There is no text; `message` is a clause without internals that completes "The file …" and "The page …", fit to be shown. */
export class ExtractionFailure extends Error {
  override name = "ExtractionFailure"

  constructor(
    message: string,
    /** Whether the same document may have more luck later. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}

const office = "application/vnd.openxmlformats-officedocument."

/** What a document of a type is read as; null when it is not read. Templates, shows and those with macros are read like what they are of. */
export function formatOf(type: string): "pdf" | "docx" | "xlsx" | "pptx" | "csv" | "html" | "text" | null {
  if (type === "application/pdf") return "pdf"
  if (type.startsWith(`${office}wordprocessingml.`) || type.startsWith("application/vnd.ms-word.")) return "docx"
  if (type.startsWith(`${office}spreadsheetml.`) || /^application\/vnd\.ms-excel\.(sheet|template)\.macro/.test(type)) return "xlsx"
  if (type.startsWith(`${office}presentationml.`) || type.startsWith("application/vnd.ms-powerpoint.")) return "pptx"
  if (type === "text/csv" || type === "text/tab-separated-values") return "csv"
  if (type === "text/html" || type === "application/xhtml+xml") return "html"
  return /^text\/|^application\/(json|xml|.+\+(json|xml))$/.test(type) ? "text" : null
}

const binaryOffice: Record<string, string> = {
  "application/msword": "a Word file of before 2007: save it as .docx",
  "application/vnd.ms-excel": "an Excel file of before 2007: save it as .xlsx",
  "application/vnd.ms-powerpoint": "a PowerPoint file of before 2007: save it as .pptx",
}

/** Why a document of a type is not read, as the clause of an `ExtractionFailure`; null when it is. */
export function unreadable(type: string): string | null {
  if (formatOf(type)) return null
  const old = binaryOffice[type]
  return old ? `is ${old}` : `holds no text (${type}): it must be a PDF, Word, Excel, PowerPoint, text or CSV file`
}
