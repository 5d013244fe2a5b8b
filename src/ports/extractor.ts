/** A document: its content and its metadata. */
export interface DocumentBytes {
  /** The content, or a function that reads it when the extractor has a slot, so that waiting documents take no memory. */
  bytes: Uint8Array | (() => Promise<Uint8Array>)
  /** Its media type without parameters, such as `application/pdf`. */
  type: string
  /** The encoding that the sender reports, if any. */
  charset?: string | null
}

/** Chunking options: maximum length of a chunk, and maximum overlap with the previous one. */
export interface Chunking {
  size: number
  overlap: number
}

/**
 * Reads untrusted documents in a way that a malicious one can neither stop this process nor exhaust its memory, and that those of one
 * company do not delay those of another. Both functions throw `ExtractionFailure`, and nothing else but errors of reading the content.
 */
export interface Extractor {
  /** Returns the text of a document, as Markdown where it has headings, lists and tables. */
  text(companyId: string, document: DocumentBytes, signal: AbortSignal): Promise<string>
  /** Splits a text into chunks of at most the given length, at the best boundaries. */
  split(companyId: string, text: string, chunking: Chunking, signal: AbortSignal): Promise<string[]>
  close(): Promise<void>
}

/** Thrown when a document has no usable text; `message` completes "The file …" and "The page …", and can be shown to users. */
export class ExtractionFailure extends Error {
  override name = "ExtractionFailure"

  constructor(
    message: string,
    /** Whether a retry may succeed. */
    readonly isWorthRetrying = false,
  ) {
    super(message)
  }
}

const office = "application/vnd.openxmlformats-officedocument."

/** The format for reading a media type; null when it is not supported. Templates, slide shows and macro files count as documents. */
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

/** Why a media type is not supported, as the clause of an `ExtractionFailure`; null when it is. */
export function unreadable(type: string): string | null {
  if (formatOf(type)) return null
  const old = binaryOffice[type]
  return old ? `is ${old}` : `holds no text (${type}): it must be a PDF, Word, Excel, PowerPoint, text or CSV file`
}
