import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto"
import type { PlainRow } from "../database/read-model.js"
import { clock } from "../entities/kit/clock.js"
import { mediaLimits } from "./limits.js"

/** Signs the addresses of files, and knows its own signatures again. */
export class MediaUrls {
  readonly #key: KeyObject

  constructor(
    jwtSecret: string,
    /** Where the server is reached from outside; known once it listens. */
    private readonly base: () => string,
  ) {
    // A key of its own, so that no signature of another kind is ever one of these.
    this.#key = createSecretKey(Buffer.from(hkdfSync("sha256", jwtSecret, "", "media url", 32)))
  }

  /** The address of a file, good for an hour unless said otherwise. */
  of(id: string, seconds: number = mediaLimits.mediaUrlSeconds): string {
    const expires = String(Math.floor(clock.now().getTime() / 1000) + seconds)
    return `${this.base()}/media/${id}?expires=${expires}&signature=${this.#sign(id, expires).toString("base64url")}`
  }

  /** How many seconds an address is still good for; null for one that is not ours or whose time is over. */
  secondsLeft(id: string, expires: string, signature: string): number | null {
    const given = Buffer.from(signature, "base64url")
    const right = this.#sign(id, expires)
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null
    const left = Number(expires) - Math.floor(clock.now().getTime() / 1000)
    return left > 0 ? left : null
  }

  #sign(id: string, expires: string): Buffer {
    return createHmac("sha256", this.#key).update(`${id}\n${expires}`).digest()
  }
}

/** A message or a chat out of an event, with the addresses of its files: what is kept has none, because they expire. */
export function withMediaUrls(row: PlainRow, urlOf: (id: string) => string): PlainRow {
  const shown = { ...row }
  if (row["messageMedia"]) shown["messageMedia"] = withUrls(row["messageMedia"], urlOf)
  for (const field of ["replyTo", "lastMessage"]) if (row[field]) shown[field] = withMediaUrls(row[field], urlOf)
  return shown
}

/** The files of a message, with their addresses. */
export const withUrls = (links: PlainRow[], urlOf: (id: string) => string) =>
  links.map((link) => ({ ...link, media: link["media"] && { ...link["media"], url: urlOf(link["media"].id) } }))
