import type { Context } from "koa"
import { BadUserInput, PayloadTooLarge } from "../errors/errors.js"

/** Reads the bytes of a body; throws 413 as soon as they are known to be more than `most`. */
export async function readRaw(ctx: Context, most: number): Promise<Buffer> {
  if (Number(ctx.get("Content-Length")) > most) throw new PayloadTooLarge(most)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) break
      chunks.push(chunk)
    }
  } catch {
    throw new BadUserInput("The request was aborted")
  }
  if (size > most) throw new PayloadTooLarge(most)
  return Buffer.concat(chunks)
}
