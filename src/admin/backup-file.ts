import { createHmac, randomBytes } from "node:crypto"
import { createWriteStream, existsSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { finished, pipeline } from "node:stream/promises"
import { type Entry, type ZipFile as OpenZip, openPromise } from "yauzl"
import { ZipFile } from "yazl"
import { z } from "zod"
import { Refusal } from "./kit.js"

/** What a backup holds: the last entry of its file, without which it is not complete. */
const manifestSchema = z.object({
  format: z.literal(1),
  /** Version of the server that wrote it. */
  version: z.string(),
  createdAt: z.string(),
  /** The migrations that made the tables. */
  migrations: z.array(z.string()),
  /** The columns and the number of rows of each table. */
  tables: z.record(z.string(), z.object({ columns: z.array(z.string()), rows: z.number() })),
  /** The last value of each sequence. */
  sequences: z.record(z.string(), z.string()),
  media: z.object({ files: z.number(), bytes: z.number(), missing: z.array(z.string()) }),
  /** A check value of the key that encrypts credentials. */
  encryptionKeyCheck: z.string(),
})
export type Manifest = z.infer<typeof manifestSchema>

const manifestName = "manifest.json"

/** Tells whether two encryption keys are the same, without telling anything else of them. */
export const checkOf = (encryptionKey: Buffer): string => createHmac("sha256", encryptionKey).update("backup").digest("base64url")

/** A backup that is being written: a ZIP file, with one entry after the other. */
export class BackupWriter {
  readonly #zip = new ZipFile()
  readonly #written: Promise<void>

  /** Begins a file beside the given one, which only its owner can read and which gets its name when it is complete; refuses a name that is taken. */
  static async create(path: string): Promise<BackupWriter> {
    if (existsSync(path)) throw new Refusal(`${path} exists already`)
    const draft = `${path}.${randomBytes(6).toString("hex")}.part`
    const handle = await open(draft, "wx", 0o600).catch((error: Error) => {
      throw new Refusal(`${path} cannot be written: ${error.message}`)
    })
    await handle.close()
    return new BackupWriter(path, draft)
  }

  private constructor(
    private readonly path: string,
    private readonly draft: string,
  ) {
    this.#written = pipeline(this.#zip.outputStream, createWriteStream(draft))
    // Awaited by complete(); an entry that fails ends the command before, and is an event of the archive, too.
    this.#written.catch(() => {})
    this.#zip.on("error", () => {})
  }

  /** Adds an entry and waits until it was read. */
  async add(name: string, content: Readable, compress = true): Promise<void> {
    this.#zip.addReadStream(content, name, { compress })
    await Promise.race([finished(content, { writable: false }), this.#written])
  }

  addText(name: string, text: string): void {
    this.#zip.addBuffer(Buffer.from(text), name)
  }

  /** Adds the manifest, and writes everything to the disk. */
  async complete(manifest: Manifest): Promise<void> {
    this.addText(manifestName, JSON.stringify(manifest, null, 2))
    this.#zip.end()
    await this.#written
    const file = await open(this.draft, "r+")
    await file.sync()
    await file.close()
    await rename(this.draft, this.path)
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    await rm(this.draft, { force: true })
  }
}

/** The content of an entry; a part that cannot be unpacked is a refusal. */
async function* undamaged(open: () => Promise<Readable>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* await open()
  } catch (error) {
    throw new Refusal(`The backup is damaged at ${name}: ${(error as Error).message}`)
  }
}

/** A backup that is read. */
export class BackupReader {
  private constructor(
    readonly manifest: Manifest,
    private readonly zip: OpenZip,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** Opens a file; refuses one that is no complete backup. */
  static async open(path: string): Promise<BackupReader> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch((error: NodeJS.ErrnoException) => {
      throw new Refusal(error.syscall ? `${path} cannot be read: ${error.message}` : `${path} is no complete backup: ${error.message}`)
    })
    try {
      const entries = new Map<string, Entry>()
      for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry)
      const last = entries.get(manifestName)
      const manifest = manifestSchema.safeParse(last && JSON.parse((await buffer(await zip.openReadStreamPromise(last))).toString()))
      if (!manifest.success) throw new Refusal(`${path} is no complete backup of this server`)
      return new BackupReader(manifest.data, zip, entries)
    } catch (error) {
      zip.close()
      throw error
    }
  }

  /** The content of an entry; null when there is none. */
  async read(name: string): Promise<Readable | null> {
    const entry = this.entries.get(name)
    if (!entry) return null
    return Readable.from(
      undamaged(() => this.zip.openReadStreamPromise(entry), name),
      { objectMode: false },
    )
  }

  /** The names of the entries of a folder, without it. */
  namesIn(folder: string): string[] {
    return [...this.entries.keys()].flatMap((name) => (name.startsWith(`${folder}/`) ? [name.slice(folder.length + 1)] : []))
  }

  close() {
    this.zip.close()
  }
}
