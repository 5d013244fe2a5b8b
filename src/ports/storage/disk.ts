import { copyFile, mkdir, open, opendir, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Readable } from "node:stream"
import { type ByteRange, isStorageKey, type Storage, type StoredFile } from "../storage.js"

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT"

/** Files in a folder of the machine, one folder per company. */
export function diskStorage(folder: string): Storage {
  const pathOf = (key: string) => {
    if (!isStorageKey(key)) throw new Error(`"${key}" is no key of a stored file`)
    return join(folder, key)
  }
  return {
    async put(key, path) {
      const target = pathOf(key)
      await mkdir(dirname(target), { recursive: true })
      await onDisk(path)
      await rename(path, target).catch(async (error) => {
        if (error.code !== "EXDEV") throw error
        await copyAcross(path, target)
      })
    },
    read: (key, range) => readFrom(pathOf(key), range),
    async remove(keys) {
      for (const key of keys) await rm(pathOf(key), { force: true })
    },
    list: () => listed(folder),
  }
}

/** Syncs a file to disk, because its row will refer to it. */
async function onDisk(path: string) {
  const file = await open(path, "r+")
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Copies a file from another file system next to its target and renames it, so that no reader sees an incomplete file. */
async function copyAcross(path: string, target: string) {
  const draft = `${target}.part`
  try {
    await copyFile(path, draft)
    await onDisk(draft)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function readFrom(path: string, range?: ByteRange): Promise<Readable | null> {
  try {
    // Opened first, so that a missing file is known before the response begins.
    const file = await open(path)
    return file.createReadStream(range)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function* listed(folder: string): AsyncGenerator<StoredFile[]> {
  for (const company of await namesIn(folder)) {
    const keys = (await namesIn(join(folder, company))).map((name) => `${company}/${name}`).filter(isStorageKey)
    const files = await Promise.all(keys.map((key) => fileOf(folder, key)))
    yield files.filter((file) => file !== null)
  }
}

async function fileOf(folder: string, key: string): Promise<StoredFile | null> {
  try {
    return { key, storedAt: (await stat(join(folder, key))).mtime }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = []
  try {
    for await (const entry of await opendir(folder)) names.push(entry.name)
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error
  }
  return names
}
