import { randomBytes } from "node:crypto"
import { constants, copyFile, link, mkdir, open, readFile, unlink } from "node:fs/promises"
import { join } from "node:path"
import type { Config } from "./config.js"
import { parseEncryptionKey } from "./environment.js"
import { rootLimits } from "./limits.js"
import { sentence } from "./sentence.js"

/** The key that signs sessions and addresses, and the key that encrypts at rest (32 bytes, AES-256). */
export interface Secrets {
  readonly jwtSecret: string
  readonly encryptionKey: Buffer
}

/**
 * The secrets from the configuration; those that are not given are generated once into `DATA_DIR/secrets.json`, readable by its owner
 * alone. Two processes that start at once agree on one file. Throws when the file is there but damaged: making new ones would lose what
 * the old ones encrypted.
 */
export async function loadSecrets(config: Pick<Config, "dataDir" | "jwtSecret" | "encryptionKey">): Promise<Secrets> {
  if (config.jwtSecret && config.encryptionKey) return { jwtSecret: config.jwtSecret, encryptionKey: config.encryptionKey }
  const path = join(config.dataDir, "secrets.json")
  const kept = (await read(path)) ?? (await generate(path))
  return { jwtSecret: config.jwtSecret ?? kept.jwtSecret, encryptionKey: config.encryptionKey ?? kept.encryptionKey }
}

async function read(path: string): Promise<Secrets | null> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw error
  }
  const secrets = parse(text)
  if (!secrets) throw sentence(`${path} is damaged: restore it from a backup, or give JWT_SECRET and ENCRYPTION_KEY`)
  return secrets
}

function parse(text: string): Secrets | null {
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

/** Writes a temporary file, then links it to its name: one process alone succeeds, and no process reads half a file. */
async function generate(path: string): Promise<Secrets> {
  await mkdir(join(path, ".."), { recursive: true })
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`
  const file = await open(draft, "wx", 0o600)
  try {
    const secrets = {
      jwtSecret: randomBytes(48).toString("base64url"),
      encryptionKey: randomBytes(rootLimits.encryptionKeyBytes).toString("base64"),
    }
    await file.writeFile(`${JSON.stringify(secrets, null, 2)}\n`)
    await file.sync()
    await place(draft, path)
  } finally {
    await file.close()
    await unlink(draft)
  }
  const secrets = await read(path)
  if (!secrets) throw sentence(`${path} was removed while the server was starting`)
  return secrets
}

async function place(draft: string, path: string) {
  try {
    await link(draft, path)
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return
    // Some mounts have no hard links: use an exclusive copy instead.
    if (!isSystemError(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP")) throw error
    await copyFile(draft, path, constants.COPYFILE_EXCL).catch((failed) => {
      if (!isSystemError(failed, "EEXIST")) throw failed
    })
  }
}

function isSystemError(error: unknown, ...codes: string[]) {
  return codes.includes(String((error as NodeJS.ErrnoException | null)?.code))
}
