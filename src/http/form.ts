import type { IncomingMessage } from "node:http"
import { finished, PassThrough, type TransformCallback, type Writable } from "node:stream"
import busboy, { type Busboy } from "busboy"
import { type FileUpload, Upload } from "graphql-upload-minimal"
import type { Context } from "koa"
import { ApiError, BadUserInput, PayloadTooLarge, UnsupportedMediaType } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import type { ArrivingForm } from "../media/upload.js"
import { httpLimits } from "./limits.js"

const required = (message: string) => new BadUserInput(`file ${message}`, [{ path: "file", message }])

/**
 * The body of a multipart request, which its parser reads instead of the request. It fails when it is too large or when the client
 * disconnects; a failure never prevents the response.
 */
export class Form extends PassThrough implements ArrivingForm {
  readonly headers
  readonly whole: Promise<void>
  reason: unknown
  readonly declaredBytes: number
  #bytes = 0
  #end!: (error?: unknown) => void

  constructor(private readonly request: IncomingMessage) {
    super()
    this.headers = request.headers
    this.declaredBytes = Math.max(0, Number(request.headers["content-length"] ?? 0) - httpLimits.formOverheadBytes)
    this.whole = new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve())
    })
    // Readers of the form handle both errors; without a reader, an unhandled error would end the process.
    this.whole.catch(() => {})
    this.on("error", () => {})
    request.once("close", () => {
      if (!request.complete) this.giveUp(new BadUserInput("The request was aborted"))
    })
    request.pipe(this)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
    this.#bytes += chunk.length
    if (this.#bytes <= rootLimits.uploadBytes + httpLimits.formOverheadBytes) done(null, chunk)
    else this.giveUp(new PayloadTooLarge(rootLimits.uploadBytes))
  }

  /** Called with the parser before it gets data. */
  onParser: (parser: Busboy) => void = () => {}

  /** Pipes the body to its parser; the form ends with the parser. */
  override pipe<T extends NodeJS.WritableStream>(parser: T): T {
    this.onParser(parser as unknown as Busboy)
    // The upload library rejects its files with the parser's error, which is no error for the sender.
    const listeners = parser.listeners("error") as ((error: unknown) => void)[]
    parser.removeAllListeners("error")
    for (const listener of listeners) parser.once("error", (error) => listener(this.asUploadError(error)))
    finished(parser as unknown as Writable, (error) => this.#end(error && this.asUploadError(error)))
    this.once("close", () => {
      if (this.reason) (parser as unknown as Writable).destroy(this.reason as Error)
    })
    return super.pipe(parser)
  }

  private asUploadError(error: Error) {
    this.reason ??= error instanceof ApiError ? error : new BadUserInput("The multipart body is incomplete or malformed")
    return this.reason
  }

  private giveUp(reason: Error) {
    this.reason ??= reason
    this.#end(this.reason)
    this.destroy(reason)
  }

  /** Stops reading. The rest of the request is discarded for a while, because most clients read a response only after sending all. */
  close() {
    const { request } = this
    request.unpipe(this)
    if (!this.readableEnded) this.giveUp(new BadUserInput("The request was not read to its end"))
    if (request.complete || request.destroyed) return
    request.resume()
    const timer = setTimeout(() => request.destroy(), httpLimits.refusedUploadMs).unref()
    request.once("close", () => clearTimeout(timer))
  }
}

/** Opens a multipart request; 415 for another type, and 413 without reading when its Content-Length is too large. */
export function openForm(ctx: Context): Form {
  if (!ctx.request.is("multipart/form-data")) throw new UnsupportedMediaType("Send the file as multipart/form-data")
  if (!ctx.req.readable) throw new BadUserInput("The request was aborted")
  if (Number(ctx.get("Content-Length")) > rootLimits.uploadBytes + httpLimits.formOverheadBytes)
    throw new PayloadTooLarge(rootLimits.uploadBytes)
  return new Form(ctx.req)
}

/** Waits until the file with that name begins; the rest of the form is parsed while the file is read. */
export function fileIn(form: Form, name: string): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const parser = parserOf(form)
    let upload: Upload | null = null
    parser.on("file", (field, stream, { filename, mimeType, encoding }) => {
      // The reader of the file gets the error; without a reader, an unhandled error would end the process.
      stream.on("error", () => {})
      // After an error the parser reads what it holds to its end, and nothing else: a file that begins there would never end.
      if (field !== name || form.reason) return void stream.resume()
      if (upload) return void parser.destroy(required("must be one file: send another in a request of its own"))
      upload = new Upload()
      const file: FileUpload = {
        fieldName: name,
        filename: filename ?? "",
        mimetype: mimeType,
        encoding,
        createReadStream: () => stream as never,
      }
      ;(upload as unknown as { resolve(file: FileUpload): void }).resolve(file)
      resolve(upload)
    })
    form.pipe(parser)
    form.whole.then(() => reject(required("is required: a part with a file name")), reject)
  })
}

function parserOf(form: Form) {
  try {
    return busboy({ headers: form.headers, defParamCharset: "utf8", limits: { fieldSize: rootLimits.bodyBytes } })
  } catch {
    throw new BadUserInput("The multipart body has no boundary")
  }
}
