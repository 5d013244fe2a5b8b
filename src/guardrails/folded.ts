/** Digits of other scripts that text models and keyboards write, by the code point of their zero; compatibility forms are decomposed by Unicode. */
const zeros = [0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6]

const invisible = /\p{Default_Ignorable_Code_Point}|\p{Cc}/u
const spaces = /[\s\u2800]/u
const dashes = /\p{Pd}|\u2212/u
/** Dots that look like a full stop, and those that browsers read as one in a host. */
const dots = /[\u00b7\u2022\u2219\u22c5\u2024\u2027\u3002\uff61]/

/** How one code point is written: in lower case, decomposed, without formatting. */
function foldedCharacter(character: string): string {
  if (spaces.test(character)) return /[\n\r\u2028\u2029]/.test(character) ? "\n" : " "
  if (invisible.test(character)) return ""
  if (dashes.test(character)) return "-"
  if (dots.test(character)) return "."
  const point = character.codePointAt(0)!
  const zero = zeros.find((each) => point >= each && point < each + 10)
  if (zero !== undefined) return String(point - zero)
  // Upper case first, because lower case alone keeps forms apart that have one upper case.
  return character.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD")
}

/** The same with the case kept and composed letters, for patterns that people write. */
function cleanCharacter(character: string): string {
  const folded = foldedCharacter(character)
  if (folded === "" || /^[\s\d.-]$/.test(folded)) return folded
  return character.normalize("NFKC")
}

/** Code points below this have their folded form kept, those of the scripts in use among them. */
const keptPoints = 0x3000

/** Folds code points, and keeps the forms of the common ones. */
function folder(fold: (character: string) => string) {
  const kept: (string | undefined)[] = new Array(keptPoints)
  return (character: string, point: number): string => {
    if (point >= keptPoints) return fold(character)
    kept[point] ??= fold(character)
    return kept[point]
  }
}

const folders = { folded: folder(foldedCharacter), clean: folder(cleanCharacter) }

const plain = /^[\n\x20-\x7e]*$/

/** A text in a form in which rules find what is written in different ways, with a map back to the original. */
export interface Folded {
  text: string
  /** Index in the original of the character at an index of the folded text. */
  start(index: number): number
  /** Index in the original behind the character before an index of the folded text. */
  end(index: number): number
}

/**
 * Folds a text: without case, zero-width and control characters, and with plain spaces, dashes and digits. The form `clean` keeps the case and
 * composed letters.
 */
export function fold(original: string, form: keyof typeof folders = "folded"): Folded {
  // Most English texts: each character is written as one.
  if (plain.test(original))
    return { text: form === "clean" ? original : original.toLowerCase(), start: (index) => index, end: (index) => index }
  const foldOne = folders[form]
  const starts: number[] = []
  let text = ""
  for (let index = 0; index < original.length; ) {
    const point = original.codePointAt(index)!
    const size = point > 0xffff ? 2 : 1
    const written = foldOne(size === 1 ? original[index]! : original.slice(index, index + 2), point)
    for (let each = 0; each < written.length; each += 1) starts.push(index)
    text += written
    index += size
  }
  return {
    text,
    start: (index) => starts[index] ?? original.length,
    end(index) {
      const last = starts[index - 1]
      return last === undefined ? 0 : last + (original.codePointAt(last)! > 0xffff ? 2 : 1)
    },
  }
}
