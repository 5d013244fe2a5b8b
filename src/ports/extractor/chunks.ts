import type { Chunking } from "../extractor.js"

/** Where a text is cut, the best places first: before headings, between paragraphs, lines, sentences, words, and at last characters. */
const places = ["\n# ", "\n## ", "\n### ", "\n#### ", "\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", ", ", " ", ""]

/** A text in chunks: at most so long each, with some of the end of the one before it. */
export function chunksOf(text: string, { size, overlap }: Chunking): string[] {
  const chunks: string[] = []
  const keep = (parts: string[]) => {
    const chunk = parts.join("").trim()
    // A chunk without a letter or digit answers nothing.
    if (/[\p{L}\p{N}]/u.test(chunk)) chunks.push(chunk)
  }

  /** Puts neighbouring parts together, as many as fit. The next chunk begins with the last ones, as far as they fit into the overlap. */
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

  /** Cuts at the best place that the text has, and what is still too long at the next best. */
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

/** A text cut at each such place: before a line's end or a space, behind a sentence, between two characters but never within one. */
function partsAt(text: string, place: string): string[] {
  if (place === "") return Array.from(text)
  if (/^\n|^ $/.test(place)) return text.split(new RegExp(`(?=${place})`))
  return text.split(place).flatMap((part, index, all) => (index < all.length - 1 ? part + place : part === "" ? [] : part))
}
