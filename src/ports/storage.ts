import type { Readable } from "node:stream"

/** A range of bytes, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/** A file as the storage lists it. */
export interface StoredFile {
  key: string
  storedAt: Date
}

/**
 * The storage of uploaded files. A key is `company/file`, two UUIDs; a stored file is complete and never changes.
 */
export interface Storage {
  /** Stores a finished file under a key; the file may be moved from its path. */
  put(key: string, path: string): Promise<void>
  /** The bytes of a file, or a range of them; null when it does not exist. */
  read(key: string, range?: ByteRange): Promise<Readable | null>
  /** Removes files; missing ones are ignored. */
  remove(keys: string[]): Promise<void>
  /** All stored files, in batches. Foreign files in the same place are not listed. */
  list(): AsyncIterable<StoredFile[]>
}

const uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const storageKey = new RegExp(`^${uuid}/${uuid}$`)

/** Whether a key has the form of this server's keys. */
export const isStorageKey = (key: string) => storageKey.test(key)
