import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters"
import type { Chunking } from "../extractor.js"

/** Where a text is cut, the best places first: before headings, between paragraphs, lines, sentences, words. */
const places = ["\n# ", "\n## ", "\n### ", "\n#### ", "\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", ", ", " ", ""]

/** Keeps what stands before a cut on its side, except for headings and line ends, and never cuts a character in two. */
class Splitter extends RecursiveCharacterTextSplitter {
  override splitOnSeparator(text: string, separator: string): string[] {
    if (separator === "") return Array.from(text)
    if (/^\n|^ $/.test(separator)) return super.splitOnSeparator(text, separator)
    const parts = text.split(separator)
    return parts.map((part, index) => (index < parts.length - 1 ? part + separator : part)).filter((part) => part !== "")
  }
}

/** A text in chunks: at most so long each, with some of the end of the one before it. */
export async function chunksOf(text: string, { size, overlap }: Chunking): Promise<string[]> {
  const chunks = await new Splitter({ separators: places, chunkSize: size, chunkOverlap: overlap }).splitText(text)
  // A chunk without a letter or digit answers nothing.
  return chunks.filter((chunk) => /[\p{L}\p{N}]/u.test(chunk))
}
