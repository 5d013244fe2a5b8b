import { BadUserInput } from "../errors/errors.js"
import { mediaLimits } from "./limits.js"

/** Bidirectional control characters, which make a name read as another, and characters that no name may hold. */
const misleading = /[\p{Cc}\u2028-\u202e\u2066-\u2069\p{Cs}]/gu

/** The stored form of a sender's file name: without folders and control characters, at most as long as file systems allow. */
export function filenameOf(given: string | undefined): string {
  if (given?.includes("\u0000"))
    throw new BadUserInput("A file name must not contain NUL (U+0000)", [{ path: "file", message: "must not contain NUL (U+0000)" }])
  const base = (given ?? "").split(/[\\/]/).at(-1)!
  const name = base.replace(misleading, "").trim()
  if (name === "" || name === "." || name === "..") return "file"
  const characters = Array.from(name)
  if (characters.length <= mediaLimits.filename) return name
  // Cut before the extension, which says what opens the file.
  const ending = Array.from(/\.[^.]{1,16}$/.exec(name)?.[0] ?? "")
  return [...characters.slice(0, mediaLimits.filename - ending.length), ...ending].join("")
}
