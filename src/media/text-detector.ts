import { portLimits } from "../ports/limits.js"

/** Reads the chunks of a file and reports whether it is text: valid UTF-8 without control characters. */
export class TextDetector {
  #decoder = new TextDecoder("utf-8", { fatal: true })
  #isText = true
  #beginning = ""

  /** Reads the next chunk. */
  push(chunk: Uint8Array) {
    if (this.#isText) this.#check(() => this.#decoder.decode(chunk, { stream: true }))
  }

  /** The beginning of the text; null when the file is not text. */
  end(): string | null {
    // An incomplete last character is detected here.
    if (this.#isText) this.#check(() => this.#decoder.decode())
    return this.#isText ? this.#beginning : null
  }

  #check(decode: () => string) {
    try {
      const text = decode()
      this.#isText = !/[^\P{Cc}\t\n\r]/u.test(text)
      const room = portLimits.markupCharacters - this.#beginning.length
      if (room > 0) this.#beginning += text.slice(0, room)
    } catch {
      this.#isText = false
    }
  }
}
