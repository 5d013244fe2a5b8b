import type { Capabilities } from "../ports/channel.js"

type TextLimit = Pick<Capabilities, "textLength" | "textUnit">

/** The size of a text in the unit in which a channel measures it. */
export function textSize(text: string, unit: Capabilities["textUnit"]): number {
  if (unit === "utf16") return text.length
  return unit === "bytes" ? Buffer.byteLength(text) : [...text].length
}

/** Where a text may be cut, best first: after a paragraph, a line, a sentence, a space. */
const cuts = [/\n\s*\n/g, /\n/g, /[.!?…。！？]+["'»”)\]]*\s/g, /\s/g]

/**
 * Splits a text into pieces that a channel takes: each as large as possible, cut at a paragraph, line, sentence or space in its second half,
 * else between graphemes. White space at a cut is dropped.
 */
export function splitText(text: string, limit: TextLimit): string[] {
  const pieces: string[] = []
  let rest = text
  while (textSize(rest, limit.textUnit) > limit.textLength) {
    const end = endOf(rest, limit)
    pieces.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  if (rest !== "" || pieces.length === 0) pieces.push(rest)
  return pieces.filter((piece) => piece !== "")
}

/** The length, in UTF-16 units, of the first piece of a text that is too long. */
function endOf(text: string, limit: TextLimit): number {
  const most = largestPrefix(text, limit)
  const prefix = text.slice(0, most)
  for (const cut of cuts) {
    const found = [...prefix.matchAll(cut)].at(-1)
    const end = found && found.index + found[0].length
    if (end && end > most / 2) return end
  }
  let end = 0
  // A grapheme that is longer than the limit is cut.
  for (const { index } of new Intl.Segmenter().segment(text.slice(0, most + graphemeUnits))) if (index <= most) end = index
  return end || most
}

/** UTF-16 units after the limit that are examined, so that the last grapheme is seen whole. */
const graphemeUnits = 100

/** The longest prefix within the limit, in UTF-16 units; it ends between code points. */
function largestPrefix(text: string, { textLength, textUnit }: TextLimit): number {
  let size = 0
  let end = 0
  for (const point of text) {
    size += textSize(point, textUnit)
    if (size > textLength) break
    end += point.length
  }
  return end
}
