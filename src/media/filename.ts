import { BadUserInput } from "../errors.js"
import { mediaLimits } from "./limits.js"

/** What turns the order of letters around, so that a name reads as another; and what no name holds. */
const misleading = /[\p{Cc}\u2028-\u202e\u2066-\u2069\p{Cs}]/gu

/** A sender's name for a file as it is kept: without folders, control characters and tricks of direction, at most as long as a file system takes. */
export function filenameOf(given: string | undefined): string {
  if (given?.includes("\u0000"))
    throw new BadUserInput("A file name must not contain NUL (U+0000)", [{ path: "file", message: "must not contain NUL (U+0000)" }])
  const base = (given ?? "").split(/[\\/]/).at(-1)!
  const name = base.replace(misleading, "").trim()
  if (name === "" || name === "." || name === "..") return "file"
  const characters = Array.from(name)
  if (characters.length <= mediaLimits.filename) return name
  // Cut in the middle: the ending says what to open it with.
  const ending = Array.from(/\.[^.]{1,16}$/.exec(name)?.[0] ?? "")
  return [...characters.slice(0, mediaLimits.filename - ending.length), ...ending].join("")
}
