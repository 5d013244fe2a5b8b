import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"

/** The key that encrypts stored secrets, and the one before it, which still decrypts during a rotation. */
export interface SealingKeys {
  readonly encryptionKey: Buffer
  readonly encryptionKeyPrevious: Buffer | null
}

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

/** The marks of the keys so far: hooks decrypt the credentials of their connection for each request. */
const marks = new WeakMap<Buffer, string>()

/** The prefix of texts that a key encrypts: the format, and a fingerprint that identifies the key without revealing it. */
export function sealMark(key: Buffer): string {
  const known = marks.get(key)
  if (known !== undefined) return known
  const fingerprint = createHmac("sha256", key).update("fingerprint of an encryption key").digest("base64url").slice(0, 11)
  const mark = `${scheme}.${fingerprint}.`
  marks.set(key, mark)
  return mark
}

/** Encrypts a text with AES-256-GCM and a random nonce; the result names its format and its key, so that both can be replaced. */
export function seal(text: string, key: Buffer): string {
  const nonce = randomBytes(12)
  const mark = sealMark(key)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(mark))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return mark + [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString("base64url")).join(".")
}

/** Decrypts a text with the first key that fits; throws `CannotUnseal` when another one encrypted it, or when it was modified. */
export function unseal(sealed: string, ...keys: (Buffer | null)[]): string {
  let cause: unknown
  for (const key of keys.filter((given) => given !== null)) {
    const mark = sealed.startsWith(v1Prefix) ? "" : sealMark(key)
    if (!sealed.startsWith(mark)) continue
    const [nonce, tag, text] = sealed
      .split(".")
      .slice(-3)
      .map((part) => Buffer.from(part, "base64url"))
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, nonce!, { authTagLength: 16 }).setAuthTag(tag!).setAAD(Buffer.from(mark))
      return Buffer.concat([decipher.update(text!), decipher.final()]).toString("utf8")
    } catch (error) {
      cause = error
    }
  }
  throw Object.assign(new CannotUnseal(), { cause })
}
