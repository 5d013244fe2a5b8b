import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto"
import { clock } from "../entities/kit/clock.js"
import { mediaLimits } from "./limits.js"

/** Signs the addresses of files and verifies them. */
export class MediaUrls {
  /** The key that signs, and during a rotation the one before it. */
  readonly #keys: [KeyObject, ...KeyObject[]]

  constructor(
    { jwtSecret, jwtSecretPrevious }: { jwtSecret: string; jwtSecretPrevious: string | null },
    /** The server's public address; known once it listens. */
    private readonly base: () => string,
  ) {
    this.#keys = [keyOf(jwtSecret), ...(jwtSecretPrevious ? [keyOf(jwtSecretPrevious)] : [])]
  }

  /** The signed address of a file, valid for `seconds`. */
  of(id: string, seconds: number = mediaLimits.mediaUrlSeconds): string {
    const expires = String(Math.floor(clock.now().getTime() / 1000) + seconds)
    return `${this.base()}/media/${id}?expires=${expires}&signature=${signature(this.#keys[0], id, expires).toString("base64url")}`
  }

  /** How many seconds an address is still valid; null for a wrong signature or an expired address. */
  secondsLeft(id: string, expires: string, signed: string): number | null {
    const given = Buffer.from(signed, "base64url")
    const isRight = (right: Buffer) => given.length === right.length && timingSafeEqual(given, right)
    if (!this.#keys.some((key) => isRight(signature(key, id, expires)))) return null
    const left = Number(expires) - Math.floor(clock.now().getTime() / 1000)
    return left > 0 ? left : null
  }
}

/** A derived key, so that signatures of other kinds are never valid here. */
const keyOf = (secret: string) => createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "media url", 32)))

const signature = (key: KeyObject, id: string, expires: string) => createHmac("sha256", key).update(`${id}\n${expires}`).digest()
