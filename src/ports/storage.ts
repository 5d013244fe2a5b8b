import type { Readable } from "node:stream"

/** Bytes of a file, both ends included. */
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
 * Where uploaded files are kept. A key is `company/file`, two UUIDs; what is put under a key is whole or not there at all, and never changes.
 */
export interface Storage {
  /** Keeps a finished file under a key; it may be taken away from its path. */
  put(key: string, path: string): Promise<void>
  /** The bytes of a file, or some of them; null when it is not there. */
  read(key: string, range?: ByteRange): Promise<Readable | null>
  /** Removes files; one that is not there is no fault. */
  remove(keys: string[]): Promise<void>
  /** Everything that is kept, a batch at a time. Files of others in the same place are not listed. */
  list(): AsyncIterable<StoredFile[]>
}

const uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const storageKey = new RegExp(`^${uuid}/${uuid}$`)

/** Whether a key is one of ours. */
export const isStorageKey = (key: string) => storageKey.test(key)
