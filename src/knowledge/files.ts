import { buffer } from "node:stream/consumers"
import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Knowledge } from "../entities/knowledge.js"
import { Media } from "../entities/media.js"
import { BadUserInput } from "../errors/errors.js"
import { ExtractionFailure, unreadable } from "../ports/extractor.js"

const bad = (message: string) => new BadUserInput(`fileId: the file ${message}`, [{ path: "fileId", message: `the file ${message}` }])

/** The file of an item, locked and marked as used; throws BadUserInput when it has no text. */
export async function attachFile(context: RequestContext, item: Knowledge): Promise<Media> {
  const where = { id: item.fileId!, companyId: item.companyId }
  const media = await context.em.findOne(Media, where, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!media) throw new BadUserInput("fileId names no file of this company", [{ path: "fileId", message: "names no file of this company" }])
  const reason = unreadable(media.mimeType)
  if (reason) throw bad(reason)
  media.attach()
  return media
}

/** The text of an uploaded file; throws `ExtractionFailure`. */
export async function fileText(
  { storage, extractor }: Pick<Services, "storage" | "extractor">,
  media: Media,
  signal: AbortSignal,
): Promise<string> {
  const bytes = async () => {
    const stored = await storage.read(media.storageKey)
    if (!stored) throw new ExtractionFailure("is not in the storage any more")
    return buffer(stored)
  }
  return extractor.text(media.companyId, { bytes, type: media.mimeType }, signal)
}

/** Thrown to abort a transaction that needs the text of a file, because extracting it is slow and must happen outside. */
class Unread extends Error {
  constructor(readonly media: Media) {
    super("The text of a file is missing")
  }
}

/** The text of a file that was read for an item. */
export interface ReadFile {
  fileId: string
  text: string
}

/** Sets the text of an item's file when the model needs it; aborts the transaction when the file has not been read yet. */
export function giveText(item: Knowledge, media: Media, read: ReadFile | null) {
  if (!item.needsExtraction) return
  if (read?.fileId !== media.id) throw new Unread(media)
  item.setText(read.text)
}

/** Runs a change that may need the text of a file: the file is read outside the transaction, which is then run again from its start. */
export async function withText<T>(context: RequestContext, change: (tx: RequestContext, read: ReadFile | null) => Promise<T>): Promise<T> {
  for (let read: ReadFile | null = null; ; ) {
    try {
      return await context.transaction((tx) => change(tx, read))
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      read = { fileId: error.media.id, text: await readNow(context.services, error.media) }
    }
  }
}

async function readNow(services: Pick<Services, "storage" | "extractor" | "stopping">, media: Media): Promise<string> {
  try {
    return await fileText(services, media, services.stopping)
  } catch (error) {
    throw error instanceof ExtractionFailure ? bad(error.message) : error
  }
}
