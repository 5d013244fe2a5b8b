import type { Context, Middleware } from "koa"
import { isLoopback } from "../config.js"
import { MethodNotAllowed, NotFound } from "../errors.js"
import { type Asset, assetOf, ownText, readAssets } from "./assets.js"
import { type StartPageFacts, startPage } from "./start-page.js"
import { strictHeaders } from "./strict-headers.js"
import { type FindWidget, widgetPages } from "./widget-pages.js"

/** The two middlewares of the pages. */
export interface Pages {
  /** Serves the pages and their assets. Throws `MethodNotAllowed` for other methods on page paths. */
  readonly serve: Middleware
  /** Handles an unknown path: a page with status 404 for browsers. Throws `NotFound` for other clients. */
  readonly unknownPath: Middleware
}

/**
 * Pages for browsers: `/` (what this server offers and runs on), `/graphql` (GraphiQL, for a browser request without a query),
 * `/api/docs` (the REST documentation), `/inbox` and below (the inbox for people), the chat widget (`/widget.js`, `/widget/{connectionId}`, with
 * the demo `/demo`), the files that they load, and a page for an unknown path. Pages load nothing from other hosts and contain no inline scripts.
 */
export function pages(facts: () => StartPageFacts, findWidget: FindWidget, demoToken: () => string | null): Pages {
  const assets = readAssets()
  const textOf = (name: string) =>
    ownText(name).replace(/\{\{([\w.-]+)\}\}/g, (_, asset: string) => {
      const found = assets.get(asset)
      if (!found) throw new Error(`${name} asks for ${asset}, which is not in the table of assets`)
      return found.url
    })
  const page = (name: string, html = textOf(name)) => assetOf(name, Buffer.from(html))
  const [docs, notFound] = [page("docs.html"), page("not-found.html")]
  const graphiqlText = textOf("graphiql.html")
  const graphiqlOf = (token: string) => page("graphiql.html", graphiqlText.replace("<!-- token -->", token))
  const graphiql = graphiqlOf("")
  const home = textOf("home.html")
  const inbox = page("inbox.html")
  const widget = widgetPages(assets, textOf, facts, findWidget)
  const pagesByPath = new Map([
    ["/", () => page("home.html", startPage(home, facts()))],
    ["/api/docs", () => docs],
  ])
  const byUrl = new Map([...assets.values()].map((asset) => [asset.url, asset]))

  return {
    async serve(context, next) {
      const found = pagesByPath.get(context.path)
      const isInbox = /^\/inbox(\/|$)/.test(context.path)
      const asset = byUrl.get(context.path)
      const reading = context.method === "GET" || context.method === "HEAD"
      if (reading && context.path === "/graphql") {
        const isQuery = new URLSearchParams(context.querystring).has("query")
        if (!prefersHtml(context) || isQuery) return next()
        const token = isLocal(context) && demoToken()
        return sendPage(context, token ? graphiqlOf(token) : graphiql)
      }
      const ofWidget = widget(context.path)
      if (ofWidget) {
        if (!reading) throw new MethodNotAllowed("GET, HEAD")
        const reply = await ofWidget(context)
        if (!reply) return next()
        context.set(reply.headers)
        return send(context, reply.asset)
      }
      if (!found && !asset && !isInbox) return next()
      if (!reading) throw new MethodNotAllowed("GET, HEAD")
      if (isInbox) {
        context.set(strictHeaders("'none'"))
        return send(context, inbox)
      }
      return found ? sendPage(context, found()) : sendAsset(context, asset!)
    },
    unknownPath(context) {
      if (!prefersHtml(context)) throw new NotFound("Path")
      return sendPage(context, notFound, 404)
    },
  }
}

const proxied = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

/** Whether a request comes from a browser on this machine, not through a proxy, to a loopback address (another name may be a rebound one). */
function isLocal({ ip, hostname, headers, req }: Context) {
  const isProxied = proxied.some((name) => headers[name] !== undefined) || speaksAsProxy(req.httpVersion)
  return isLoopback(ip) && isLoopback(hostname) && !isProxied
}

/** nginx, as it comes, sends its requests as HTTP 1.0 and with no header that tells of it; browsers have long left that version. */
const speaksAsProxy = (httpVersion: string) => httpVersion === "1.0"

/** Whether the client prefers HTML, as browsers do; a client that accepts anything (`*\/*`) gets JSON, as GraphQL over HTTP requires. */
function prefersHtml(context: Context) {
  context.vary("Accept")
  return context.accepts("application/json", "application/graphql-response+json", "text/html") === "text/html"
}

/** Allows only this server's scripts and files, and no framing. Inline styles are allowed because GraphiQL's dialogs add style elements. */
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

function sendPage(context: Context, page: Asset, status = 200) {
  context.set({ "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache" })
  return send(context, page, status)
}

function sendAsset(context: Context, asset: Asset) {
  context.set("Cache-Control", "public, max-age=31536000, immutable")
  return send(context, asset)
}

async function send(context: Context, asset: Asset, status = 200) {
  const zipped = context.acceptsEncodings("gzip", "identity") === "gzip"
  context.vary("Accept-Encoding")
  context.set("X-Content-Type-Options", "nosniff")
  // A weak ETag, because the compressed and the plain content have the same one.
  context.etag = `W/${asset.etag}`
  context.status = status
  if (context.fresh) {
    context.status = 304
    return
  }
  context.type = asset.type
  if (zipped) context.set("Content-Encoding", "gzip")
  context.body = zipped ? await asset.gzipped() : asset.body
}
