import { ExtractionFailure } from "../extractor.js"
import { openPackage } from "./ooxml.js"
import { pdfBlocks } from "./pdf.js"
import { slideBlocks } from "./slides.js"
import { wordBlocks } from "./word.js"
import { workbookBlocks } from "./workbook.js"

const names = { pdf: "PDF", docx: "Word file", xlsx: "Excel file", pptx: "PowerPoint file" } as const
const readers = { docx: wordBlocks, xlsx: workbookBlocks, pptx: slideBlocks } as const

/** Returns the text of a PDF or an office file as Markdown. Images are not read: there is no OCR. */
export async function officeText(bytes: Uint8Array, format: keyof typeof names): Promise<string> {
  try {
    return joined(format === "pdf" ? await pdfBlocks(bytes) : readers[format](openPackage(bytes)))
  } catch (error) {
    if (error instanceof ExtractionFailure) throw error
    if ((error as Error).name === "PasswordException") throw new ExtractionFailure("is protected by a password")
    // Messages of libraries are not shown, because they are technical and may contain paths.
    throw new ExtractionFailure(`is no ${names[format]} that can be read: it is damaged or incomplete`)
  }
}

/** Matches an item of a list at any depth. */
const item = /^ *(-|\d{1,2}[.)]) .*$/

/** Joins blocks with an empty line between them, except between items of a list. */
const joined = (blocks: string[]) =>
  blocks
    .filter((block) => block !== "")
    .reduce(
      (text, block, index, all) => text + (index === 0 ? "" : item.test(block) && item.test(all[index - 1]!) ? "\n" : "\n\n") + block,
      "",
    )
