import { randomBytes } from "node:crypto"
import { constants, copyFile, link, open, readFile, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { operatorError } from "../errors/operator-error.js"
import { rootLimits } from "../limits.js"
import type { Config } from "./config.js"
import { dataFolder } from "./data-folder.js"
import { parseEncryptionKey } from "./environment.js"

/** The key that signs sessions and URLs, and the key that encrypts stored secrets (32 bytes, AES-256). */
export interface Secrets {
  readonly jwtSecret: string
  /** The secret before the last rotation, which still verifies; null without one. */
  readonly jwtSecretPrevious: string | null
  readonly encryptionKey: Buffer
  /** The key before the last rotation, which still decrypts; null without one. */
  readonly encryptionKeyPrevious: Buffer | null
}

type StoredSecrets = Omit<Secrets, "jwtSecretPrevious" | "encryptionKeyPrevious">

/**
 * Returns the configured secrets. Missing ones are generated once in `DATA_DIR/secrets.json`, which only its owner can read. Processes that
 * start at the same time agree on one file. Throws when the file is damaged: new secrets could not decrypt what the old ones encrypted.
 */
export async function loadSecrets(config: Pick<Config, keyof Secrets | "dataDir">): Promise<Secrets> {
  const { jwtSecret, jwtSecretPrevious, encryptionKey, encryptionKeyPrevious } = config
  const previous = { jwtSecretPrevious, encryptionKeyPrevious }
  if (jwtSecret && encryptionKey) return { jwtSecret, encryptionKey, ...previous }
  const path = join(config.dataDir, "secrets.json")
  const stored = (await read(path)) ?? (await generate(path))
  return { jwtSecret: jwtSecret ?? stored.jwtSecret, encryptionKey: encryptionKey ?? stored.encryptionKey, ...previous }
}

async function read(path: string): Promise<StoredSecrets | null> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    // With a file in place of the folder, creating the folder says what is wrong.
    if (isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR")) return null
    throw operatorError(`${path} cannot be read: ${(error as Error).message}`, error)
  }
  const secrets = parse(text)
  if (!secrets) throw operatorError(`${path} is damaged: restore it from a backup, or set JWT_SECRET and ENCRYPTION_KEY`)
  return secrets
}

function parse(text: string): StoredSecrets | null {
  try {
    const { jwtSecret, encryptionKey } = JSON.parse(text)
    const key = parseEncryptionKey(encryptionKey)
    return typeof jwtSecret === "string" && jwtSecret.length >= rootLimits.jwtSecretCharacters && key
      ? { jwtSecret, encryptionKey: key }
      : null
  } catch {
    return null
  }
}

/** Writes a temporary file and links it to its name: only one process succeeds, and no process reads an incomplete file. */
async function generate(path: string): Promise<StoredSecrets> {
  dataFolder(dirname(path))
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`
  const file = await open(draft, "wx", 0o600)
  try {
    const secrets = {
      jwtSecret: randomBytes(48).toString("base64url"),
      encryptionKey: randomBytes(rootLimits.encryptionKeyBytes).toString("base64"),
    }
    await file.writeFile(`${JSON.stringify(secrets, null, 2)}\n`)
    await file.sync()
    await linkOnce(draft, path)
  } finally {
    await file.close()
    await unlink(draft)
  }
  const secrets = await read(path)
  if (!secrets) throw operatorError(`${path} was removed while the server was starting`)
  return secrets
}

async function linkOnce(draft: string, path: string) {
  try {
    await link(draft, path)
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return
    // Some file systems have no hard links: an exclusive copy replaces the link.
    if (!isSystemError(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP")) throw error
    await copyFile(draft, path, constants.COPYFILE_EXCL).catch((failed) => {
      if (!isSystemError(failed, "EEXIST")) throw failed
    })
  }
}

function isSystemError(error: unknown, ...codes: string[]) {
  return codes.includes(String((error as NodeJS.ErrnoException | null)?.code))
}
