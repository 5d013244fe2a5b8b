import type { Chunking } from "../extractor.js"

/** Boundaries of chunks, best first: headings, paragraphs, lines, sentences, words, and characters at last. */
const places = ["\n# ", "\n## ", "\n### ", "\n#### ", "\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", ", ", " ", ""]

/** Splits a text into chunks of limited length, each with some of the end of the previous one. */
export function splitIntoChunks(text: string, { size, overlap }: Chunking): string[] {
  const chunks: string[] = []
  const keep = (parts: string[]) => {
    const chunk = parts.join("").trim()
    // A chunk without a letter or digit contains no information.
    if (/[\p{L}\p{N}]/u.test(chunk)) chunks.push(chunk)
  }

  /** Joins adjacent parts as long as they fit. The next chunk begins with the last parts that fit into the overlap. */
  function merge(parts: string[]) {
    const chunk: string[] = []
    let length = 0
    for (const part of parts) {
      if (length + part.length > size) {
        keep(chunk)
        while (length > overlap || (length > 0 && length + part.length > size)) length -= chunk.shift()!.length
      }
      chunk.push(part)
      length += part.length
    }
    keep(chunk)
  }

  /** Splits at the best boundary in the text, and parts that are still too long at the next best. */
  function split(long: string, from: number) {
    const best = places.findIndex((place, index) => index >= from && long.includes(place))
    let parts: string[] = []
    for (const part of partsAt(long, places[best]!)) {
      if (part.length < size) parts.push(part)
      else {
        merge(parts)
        parts = []
        split(part, best + 1)
      }
    }
    merge(parts)
  }

  split(text, 0)
  return chunks
}

/** Splits at every boundary: before a line end or a space, after a sentence, or between characters, but never inside one. */
function partsAt(text: string, place: string): string[] {
  if (place === "") return Array.from(text)
  if (/^\n|^ $/.test(place)) return text.split(new RegExp(`(?=${place})`))
  return text.split(place).flatMap((part, index, all) => (index < all.length - 1 ? part + place : part === "" ? [] : part))
}
