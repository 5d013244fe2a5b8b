import { createHmac, hash, timingSafeEqual } from "node:crypto"

/** Whether a header of a request is the expected secret or signature; takes as long for a wrong one as for the right one. */
export function isSecret(given: string | string[] | undefined, expected: string): boolean {
  if (typeof given !== "string" || expected === "") return false
  // Digests have one length, which timingSafeEqual() needs.
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"))
}

/** The signature `sha256=<hex HMAC-SHA256 of the body>`. */
export const hmacSignature = (body: Buffer | string, key: string) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`
