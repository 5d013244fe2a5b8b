import type { Context, Middleware } from "koa"
import { HttpMethodEnum, koaBody } from "koa-body"
import { BadUserInput, PayloadTooLarge, UnsupportedMediaType } from "../errors/errors.js"
import { rootLimits } from "../limits.js"

const read: Middleware = koaBody({
  json: true,
  jsonLimit: rootLimits.bodyBytes,
  urlencoded: false,
  text: false,
  multipart: false,
  parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
}) as Middleware

const nothing = async () => {}

/** Reads the body as a JSON object: 415 for another type, 400 for malformed JSON or another value, 413 over 1 MB; an empty body is {}. */
export async function readJson(ctx: Context): Promise<Record<string, unknown>> {
  const body = await readBody(ctx)
  if (Array.isArray(body)) throw notAnObject()
  return body as Record<string, unknown>
}

/** The same, also for an array. */
export async function readBody(ctx: Context): Promise<object> {
  if (!hasBody(ctx)) return {}
  if (Number(ctx.get("Content-Length")) > rootLimits.bodyBytes) throw new PayloadTooLarge()
  if (!ctx.request.is("application/json", "+json")) throw new UnsupportedMediaType()
  if (!ctx.req.readable) throw new BadUserInput("The request was aborted")
  await read(ctx, nothing)
  const body: unknown = (ctx.request as { body?: unknown }).body
  if (!body || typeof body !== "object") throw notAnObject()
  return body
}

const notAnObject = () => new BadUserInput("The request body must be a JSON object")

const hasBody = (ctx: Context) => ctx.get("Transfer-Encoding") !== "" || Number(ctx.get("Content-Length") || 0) > 0
