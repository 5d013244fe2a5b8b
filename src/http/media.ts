import Router, { type RouterContext } from "@koa/router"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Forbidden, NotFound, RangeNotSatisfiable } from "../errors/errors.js"
import type { ByteRange } from "../ports/storage.js"

type StoredFile = RowOf<"Media", "filename" | "mime_type" | "size" | "sha256" | "storage_key">

const mediaById: Statement<StoredFile> = {
  name: "media-by-id",
  text: "select filename, mime_type, size, sha256, storage_key from media where id = $1",
}

/** Types that a browser may display inline; not SVG, which can hold scripts. */
const isShown = (type: string) => /^(image|audio|video)\//.test(type) && type !== "image/svg+xml"

/** Route that serves files; the signature in the URL grants access. */
export function mediaRouter(services: Pick<Services, "mediaUrls" | "database" | "storage">): Router {
  return new Router().get("/media/:id", async (ctx) => {
    const { id = "" } = ctx["params"]
    const { expires, signature } = ctx.query
    const seconds = services.mediaUrls.secondsLeft(id, String(expires), String(signature))
    if (seconds === null || !isUuid(id)) throw new Forbidden("The address has expired, or is not complete: ask for a fresh one")
    const [row] = await unscoped(services.database, mediaById, [id])
    if (!row) throw new NotFound("File")
    await send(ctx, services, row, seconds)
  })
}

async function send(ctx: RouterContext, services: Pick<Services, "storage">, row: StoredFile, seconds: number) {
  const headers = { "Accept-Ranges": "bytes", "Cache-Control": `private, max-age=${seconds}` }
  ctx.set("ETag", `"${row.sha256}"`)
  ctx.status = 200
  if (ctx.fresh) {
    ctx.status = 304
    ctx.set(headers)
    return
  }
  const range = ctx.method === "GET" ? rangeOf(ctx, row.size) : undefined
  const bytes = ctx.method === "GET" ? await services.storage.read(row.storage_key, range) : ""
  if (bytes === null) throw new NotFound("File")
  ctx.body = bytes
  ctx.attachment(row.filename, { type: isShown(row.mime_type) ? "inline" : "attachment" })
  ctx.set({
    ...headers,
    // Set explicitly: Koa would derive the type from the file's name.
    "Content-Type": row.mime_type.startsWith("text/") ? `${row.mime_type}; charset=utf-8` : row.mime_type,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
  })
  ctx.length = range ? range.end - range.start + 1 : row.size
  if (!range) return
  ctx.status = 206
  ctx.set("Content-Range", `bytes ${range.start}-${range.end}/${row.size}`)
}

/** The requested byte range; undefined (the whole file) for no range, several, or one of another version. */
function rangeOf(ctx: RouterContext, size: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(ctx.get("Range").trim()) ?? []
  const version = ctx.get("If-Range")
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined
  if (version && version !== ctx.response.get("ETag")) return undefined
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1)
  // "5-2" is not a valid range and is ignored.
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined
  if (start > end) throw new RangeNotSatisfiable(size)
  return { start, end }
}
