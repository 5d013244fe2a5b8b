import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"

const scheme = "v2"
/** Prefix of the older format, which does not name its key. */
const v1Prefix = "v1."

/** Thrown when the current key cannot decrypt a text; the message reveals nothing of the text. */
export class CannotUnseal extends Error {
  override name = "CannotUnseal"

  constructor() {
    super("could not be decrypted with the current ENCRYPTION_KEY")
  }
}

/** The prefix of texts that a key encrypts: the format, and a fingerprint that identifies the key without revealing it. */
export function sealMark(key: Buffer): string {
  return `${scheme}.${createHmac("sha256", key).update("fingerprint of an encryption key").digest("base64url").slice(0, 11)}.`
}

/** Encrypts a text with AES-256-GCM and a random nonce; the result names its format and its key, so that both can be replaced. */
export function seal(text: string, key: Buffer): string {
  const nonce = randomBytes(12)
  const mark = sealMark(key)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(mark))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return mark + [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString("base64url")).join(".")
}

/** Decrypts a text; throws `CannotUnseal` when another key encrypted it, or when it was modified. */
export function unseal(sealed: string, key: Buffer): string {
  const mark = sealed.startsWith(v1Prefix) ? "" : sealMark(key)
  if (!sealed.startsWith(mark)) throw new CannotUnseal()
  const parts = sealed.split(".").slice(-3)
  const [nonce, tag, text] = parts.map((part) => Buffer.from(part, "base64url"))
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce!, { authTagLength: 16 }).setAuthTag(tag!).setAAD(Buffer.from(mark))
    return Buffer.concat([decipher.update(text!), decipher.final()]).toString("utf8")
  } catch (error) {
    throw Object.assign(new CannotUnseal(), { cause: error })
  }
}
