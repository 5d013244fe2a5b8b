import { createHash } from "node:crypto"
import { mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { FileUpload } from "graphql-upload-minimal"
import { v7 } from "uuid"
import type { ArrivedFile } from "../entities/media.js"
import { ApiError, BadUserInput, PayloadTooLarge } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import { contentType } from "./content-type.js"
import { filenameOf } from "./filename.js"
import { TextDetector } from "./text-detector.js"

/** The multipart form of an upload: when it was read completely, and why it failed. */
export interface ArrivingForm {
  /** Resolves when the whole form was read; rejects when it is malformed or cut off. */
  whole: Promise<void>
  /** Size that the request declares, at least of its files; 0 when it declares none. */
  declaredBytes: number
  /** Why reading was stopped, as soon as that is known. */
  reason: unknown
}

/** An uploaded temporary file; disposing removes it when it is still there. */
export interface TempUpload extends ArrivedFile, AsyncDisposable {
  path: string
}

/** How large a file may be, and the error of a larger one. */
export interface QuotaLeft {
  bytes: number
  error: ApiError
}

/**
 * Streams an upload to a temporary file, with its size limited, its hash computed and its type detected on the way. On failure the file is
 * removed.
 */
export async function receiveUpload(folder: string, upload: FileUpload, left: QuotaLeft | null, form?: ArrivingForm): Promise<TempUpload> {
  const filename = filenameOf(upload.filename)
  await mkdir(folder, { recursive: true })
  const path = join(folder, v7())
  const remove = () => rm(path, { force: true })
  try {
    const { size, sha256, text } = await write(upload, path, left, form)
    // The file can be complete although the form is not.
    await form?.whole
    if (size === 0) throw new BadUserInput("The file is empty", [{ path: "file", message: "is empty" }])
    const mimeType = await contentType(path, text, filename)
    return { filename, mimeType, size, sha256, path, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The same for a file that the server itself has, or reads from a service. */
export const receiveContent = (folder: string, filename: string, content: Readable, left: QuotaLeft | null): Promise<TempUpload> =>
  receiveUpload(folder, { filename, createReadStream: () => content } as unknown as FileUpload, left)

function streamOf(upload: FileUpload): Readable {
  try {
    return upload.createReadStream()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new BadUserInput("A file of a request is uploaded once: send it again for another upload")
  }
}

async function write(upload: FileUpload, path: string, left: QuotaLeft | null, form: ArrivingForm | undefined) {
  // Opened first: a file that is still being opened when the upload fails would be created after its removal.
  await using file = await open(path, "wx", 0o600)
  const source = streamOf(upload)
  const hash = createHash("sha256")
  const text = new TextDetector()
  let size = 0
  async function* watched() {
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > rootLimits.uploadBytes) throw new PayloadTooLarge(rootLimits.uploadBytes)
        if (left && size > left.bytes) throw left.error
        hash.update(chunk)
        text.push(chunk)
        yield chunk
      }
    } catch (error) {
      // The connection broke; the parser's message about that is not meant for the sender.
      throw error instanceof ApiError ? error : (form?.reason ?? new BadUserInput("The file is incomplete: its upload was broken off"))
    }
  }
  await pipeline(watched(), file.createWriteStream())
  return { size, sha256: hash.digest("hex"), text: text.end() }
}
