import sniffEncoding from "html-encoding-sniffer"
import papa from "papaparse"
import { ExtractionFailure } from "../extractor.js"
import { portLimits } from "../limits.js"
import { tableText } from "./table.js"

/** The text of bytes, in the encoding that their beginning (BOM) says, else their sender, else, of a page, the page itself. */
export function decoded(bytes: Uint8Array, charset: string | null | undefined): string {
  const encoding = sniffEncoding(bytes, {
    ...(charset && { transportLayerEncodingLabel: charset }),
    // Text that says nothing of itself is UTF-8 today, and Windows-1252 as ever where it cannot be.
    defaultEncoding: isUtf8(bytes) ? "UTF-8" : "windows-1252",
  })
  return new TextDecoder(encoding).decode(bytes)
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** A table of values, whichever of the usual characters parts them. */
export function csvText(text: string): string {
  const { data } = papa.parse<string[]>(text, { skipEmptyLines: true, delimitersToGuess: [",", ";", "\t", "|"] })
  const cells = data.reduce((sum, row) => sum + row.length, 0)
  if (cells > portLimits.workbookCells) throw new ExtractionFailure("is too large to be read: split it")
  return tableText(data.map((row) => row.map((cell) => cell.trim())))
}
