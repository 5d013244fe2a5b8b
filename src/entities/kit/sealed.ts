import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

const version = "v1"

/** Encrypts a text with AES-256-GCM under a fresh nonce; the result names its scheme, so that keys and schemes can change. */
export function seal(text: string, key: Buffer): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce)
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return [version, nonce.toString("base64url"), cipher.getAuthTag().toString("base64url"), sealed.toString("base64url")].join(".")
}

/** Reads a sealed text back; throws when the key is another one or the text was changed. */
export function unseal(sealed: string, key: Buffer): string {
  const [scheme, nonce, tag, text] = sealed.split(".")
  if (scheme !== version || !nonce || !tag || text === undefined) throw new Error("This is no sealed text")
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url")).setAuthTag(Buffer.from(tag, "base64url"))
  return Buffer.concat([decipher.update(Buffer.from(text, "base64url")), decipher.final()]).toString("utf8")
}
