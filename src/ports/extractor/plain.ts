import sniffEncoding from "html-encoding-sniffer"
import papa from "papaparse"
import { ExtractionFailure } from "../extractor.js"
import { portLimits } from "../limits.js"
import { tableText } from "./table.js"

/** Decodes text with the encoding of its byte order mark, otherwise the one that the sender or the page itself declares. */
export function decoded(bytes: Uint8Array, charset: string | null | undefined): string {
  const encoding = sniffEncoding(bytes, {
    ...(charset && { transportLayerEncodingLabel: charset }),
    // Text without a declared encoding is read as UTF-8, or as Windows-1252 when it is not valid UTF-8.
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

/** Parses a table of values with any of the usual separators. */
export function csvText(text: string): string {
  const { data } = papa.parse<string[]>(text, { skipEmptyLines: true, delimitersToGuess: [",", ";", "\t", "|"] })
  const cells = data.reduce((sum, row) => sum + row.length, 0)
  if (cells > portLimits.workbookCells) throw new ExtractionFailure("is too large to be read: split it")
  return tableText(data.map((row) => row.map((cell) => cell.trim())))
}
