import type { IncomingMessage } from "node:http"
import { finished, PassThrough, type TransformCallback, type Writable } from "node:stream"
import busboy, { type Busboy } from "busboy"
import { type FileUpload, Upload } from "graphql-upload-minimal"
import type { Context } from "koa"
import { ApiError, BadUserInput, PayloadTooLarge, UnsupportedMediaType } from "../errors.js"
import { rootLimits } from "../limits.js"
import type { ArrivingForm } from "../media/arriving.js"
import { httpLimits } from "./limits.js"

const required = (message: string) => new BadUserInput(`file ${message}`, [{ path: "file", message }])

/**
 * The body of a multipart request on its way to a parser, which takes it for the request: cut off where it is too large, broken when its sender
 * goes away, and never the reason that an answer cannot be sent.
 */
export class Form extends PassThrough implements ArrivingForm {
  readonly headers
  readonly whole: Promise<void>
  reason: unknown
  #bytes = 0
  #end!: (error?: unknown) => void

  constructor(private readonly request: IncomingMessage) {
    super()
    this.headers = request.headers
    this.whole = new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve())
    })
    // Both are looked at by those who read the form; who never came to it shall not end the process.
    this.whole.catch(() => {})
    this.on("error", () => {})
    request.once("close", () => {
      if (!request.complete) this.giveUp(new BadUserInput("The request was broken off"))
    })
    request.pipe(this)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
    this.#bytes += chunk.length
    if (this.#bytes <= rootLimits.uploadBytes + httpLimits.formOverheadBytes) done(null, chunk)
    else this.giveUp(new PayloadTooLarge(rootLimits.uploadBytes))
  }

  /** Called with the parser of the form before it gets anything to read. */
  onParser: (parser: Busboy) => void = () => {}

  /** Hands the body to its parser, whose end is the form's. */
  override pipe<T extends NodeJS.WritableStream>(parser: T): T {
    this.onParser(parser as unknown as Busboy)
    finished(parser as unknown as Writable, (error) => this.#end(error && this.meaningOf(error)))
    this.once("close", () => {
      if (this.reason) (parser as unknown as Writable).destroy(this.reason as Error)
    })
    return super.pipe(parser)
  }

  private meaningOf(error: Error) {
    this.reason ??= error instanceof ApiError ? error : new BadUserInput("The multipart body is incomplete or malformed")
    return this.reason
  }

  private giveUp(reason: Error) {
    this.reason ??= reason
    this.#end(this.reason)
    this.destroy(reason)
  }

  /** Ends the reading. What its sender still sends is taken for a while, because most read an answer only when they have sent everything. */
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

/** Opens a multipart request; another type is 415, and what says at once that it is too large is not read at all. */
export function openForm(ctx: Context): Form {
  if (!ctx.request.is("multipart/form-data")) throw new UnsupportedMediaType("Send the file as multipart/form-data")
  if (!ctx.req.readable) throw new BadUserInput("The request was broken off")
  if (Number(ctx.get("Content-Length")) > rootLimits.uploadBytes + httpLimits.formOverheadBytes)
    throw new PayloadTooLarge(rootLimits.uploadBytes)
  return new Form(ctx.req)
}

/** Waits until the file of that name begins in a form; the form is read on while the file is. */
export function fileIn(form: Form, name: string): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const parser = parserOf(form)
    let upload: Upload | null = null
    parser.on("file", (field, stream, { filename, mimeType, encoding }) => {
      // Its reader hears of it; one that nobody reads shall not end the process.
      stream.on("error", () => {})
      if (field !== name) return void stream.resume()
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
