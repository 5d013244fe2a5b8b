import type { Context, Middleware } from "koa"
import { MethodNotAllowed } from "../errors.js"
import { type Asset, assetOf, ownText, readAssets } from "./assets.js"

/**
 * What a browser is shown: `/` (what this is), `/graphql` (GraphiQL, for a browser that asks without a query), `/api/docs` (the REST
 * documentation) and the files that these load. No foreign host is involved, and no script stands in a page. Everything else goes on to
 * the next middleware. Throws `MethodNotAllowed` for other methods on what is only a page.
 */
export function pages(): Middleware {
  const assets = readAssets()
  const page = (name: string) => {
    const html = ownText(name).replace(/\{\{([\w.-]+)\}\}/g, (_, asset: string) => {
      const found = assets.get(asset)
      if (!found) throw new Error(`${name} asks for ${asset}, which is not in the table of assets`)
      return found.url
    })
    return assetOf(name, Buffer.from(html))
  }
  const shown = new Map([
    ["/", page("home.html")],
    ["/api/docs", page("docs.html")],
  ])
  const graphiql = page("graphiql.html")
  const byUrl = new Map([...assets.values()].map((asset) => [asset.url, asset]))

  return async (context, next) => {
    const found = shown.get(context.path)
    const asset = byUrl.get(context.path)
    const reading = context.method === "GET" || context.method === "HEAD"
    if (reading && context.path === "/graphql") {
      context.vary("Accept")
      return asksForGraphiQL(context) ? sendPage(context, graphiql) : next()
    }
    if (!found && !asset) return next()
    if (!reading) throw new MethodNotAllowed("GET, HEAD")
    return found ? sendPage(context, found) : sendAsset(context, asset!)
  }
}

/** A browser prefers HTML; a client that takes anything (`*\/*`) gets JSON, as GraphQL over HTTP wants it. */
function asksForGraphiQL(context: Context) {
  const preferred = context.accepts("application/json", "application/graphql-response+json", "text/html")
  return preferred === "text/html" && !new URLSearchParams(context.querystring).has("query")
}

/** No script but ours, nothing from elsewhere, shown in nobody's frame. GraphiQL's dialogs add style elements, hence the one exception. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

function sendPage(context: Context, page: Asset) {
  context.set({ "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache" })
  return send(context, page)
}

function sendAsset(context: Context, asset: Asset) {
  context.set("Cache-Control", "public, max-age=31536000, immutable")
  return send(context, asset)
}

async function send(context: Context, asset: Asset) {
  const zipped = context.acceptsEncodings("gzip", "identity") === "gzip"
  context.vary("Accept-Encoding")
  context.set("X-Content-Type-Options", "nosniff")
  // A weak tag: compressed and plain are the same content in other bytes.
  context.etag = `W/${asset.etag}`
  context.status = 200
  if (context.fresh) {
    context.status = 304
    return
  }
  context.type = asset.type
  if (zipped) context.set("Content-Encoding", "gzip")
  context.body = zipped ? await asset.gzipped() : asset.body
}
