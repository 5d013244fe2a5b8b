import sniffEncoding from "html-encoding-sniffer"
import { OfficeParser } from "officeparser"
import { portLimits } from "../limits.js"
import { outline } from "./outline.js"

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
export async function csvText(text: string): Promise<string> {
  const [beginning = ""] = text.split(/\r?\n/, 1)
  const count = (character: string) => beginning.split(character).length
  const [csvDelimiter = ","] = [",", ";", "\t", "|"].sort((one, other) => count(other) - count(one))
  const config = { fileType: "csv", csvDelimiter, decompressionLimits: { maxTableCells: portLimits.workbookCells } } as const
  const { content } = await OfficeParser.parseOffice(Buffer.from(text), config)
  // A file has one table, and no name for it.
  return outline(content.flatMap((sheet) => ({ type: "table" as const, children: sheet.children })))
}
