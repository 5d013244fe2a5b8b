import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto"
import { clock } from "../entities/kit/clock.js"
import { mediaLimits } from "./limits.js"

/** Signs the addresses of files and verifies them. */
export class MediaUrls {
  readonly #key: KeyObject

  constructor(
    jwtSecret: string,
    /** The server's public address; known once it listens. */
    private readonly base: () => string,
  ) {
    // A derived key, so that signatures of other kinds are never valid here.
    this.#key = createSecretKey(Buffer.from(hkdfSync("sha256", jwtSecret, "", "media url", 32)))
  }

  /** The signed address of a file, valid for `seconds`. */
  of(id: string, seconds: number = mediaLimits.mediaUrlSeconds): string {
    const expires = String(Math.floor(clock.now().getTime() / 1000) + seconds)
    return `${this.base()}/media/${id}?expires=${expires}&signature=${this.#sign(id, expires).toString("base64url")}`
  }

  /** How many seconds an address is still valid; null for a wrong signature or an expired address. */
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
