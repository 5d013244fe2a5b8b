import { OfficeErrorType, OfficeParser } from "officeparser"
import { ExtractionFailure } from "../extractor.js"
import { portLimits } from "../limits.js"
import { outline } from "./outline.js"

const because: Partial<Record<OfficeErrorType, string>> = {
  [OfficeErrorType.PASSWORD_REQUIRED]: "is protected by a password",
  [OfficeErrorType.PASSWORD_INCORRECT]: "is protected by a password",
  [OfficeErrorType.DOCUMENT_DECRYPTION_FAILED]: "is encrypted",
  [OfficeErrorType.ZIP_SIZE_LIMIT_EXCEEDED]: "unpacks to far more than a document holds",
  [OfficeErrorType.ZIP_ENTRY_COUNT_LIMIT_EXCEEDED]: "unpacks to far more than a document holds",
  [OfficeErrorType.XML_ELEMENT_LIMIT_EXCEEDED]: "is too large to be read: split it",
  [OfficeErrorType.MAX_NESTING_DEPTH_EXCEEDED]: "is nested too deeply to be read",
}

const names = { pdf: "PDF", docx: "Word file", xlsx: "Excel file", pptx: "PowerPoint file" } as const

/** The text of a PDF or an office file. Pictures are not read: there is no recognition of letters. */
export async function officeText(bytes: Uint8Array, format: keyof typeof names): Promise<string> {
  try {
    const document = await OfficeParser.parseOffice(Buffer.from(bytes), {
      fileType: format,
      ocr: false,
      extractAttachments: false,
      ignoreInternalLinks: true,
      ignorePageGeometry: true,
      ignoreSlideMasters: true,
      ignoreHeadersAndFooters: true,
      ignoreComments: true,
      // This process is the separate one: whoever started it ends it.
      pdfParserConfig: { separateProcess: false, extractTextColor: false },
      decompressionLimits: {
        maxUncompressedBytes: portLimits.unpackedBytes,
        maxXmlElements: portLimits.documentElements,
        maxTableCells: portLimits.workbookCells,
      },
    })
    return outline(document.content)
  } catch (error) {
    throw new ExtractionFailure(reasonOf(error) ?? `is no ${names[format]} that can be read: it is damaged or incomplete`)
  }
}

/** In our words: the library's are for programmers, and may name places. */
function reasonOf(error: unknown): string | undefined {
  const { code } = (error as { officeIssue?: { code?: OfficeErrorType } }).officeIssue ?? {}
  return code && because[code]
}
