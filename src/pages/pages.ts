import type { Context, Middleware } from "koa"
import { isLoopback } from "../config/config.js"
import { MethodNotAllowed, NotFound } from "../errors/errors.js"
import { type Asset, assetOf, ownText, readAssets } from "./assets.js"
import { demoOwner, type StartPageFacts, startPage } from "./start-page.js"
import { strictHeaders } from "./strict-headers.js"
import { type FindWidget, widgetPages } from "./widget-pages.js"

/** The two middlewares of the pages. */
export interface Pages {
  /** Serves the pages and their assets. Throws `MethodNotAllowed` for other methods on page paths. */
  readonly serve: Middleware
  /** Handles an unknown path: a page with status 404 for browsers. Throws `NotFound` for other clients. */
  readonly unknownPath: Middleware
}

/** What the demo's pages show to a browser on this machine. */
export interface DemoAccess {
  readonly token: string
  readonly email: string
  readonly password: string
}

/** What the pages are made of. */
export interface PageSources {
  /** Whether pages for people are served; the chat widget is in any case. */
  readonly hasPages: boolean
  facts(): StartPageFacts
  readonly findWidget: FindWidget
  /** Null without a demo, and where the server is not for this machine alone. */
  demoAccess(): DemoAccess | null
}

/**
 * Pages for browsers: `/` (what this server offers and runs on), `/graphql` (GraphiQL, for a browser request without a query),
 * `/api/docs` (the REST documentation), `/inbox` and below (the inbox for people), the chat widget (`/widget.js`, `/widget/{connectionId}`, with
 * the demo `/demo`), the files that they load, and a page for an unknown path. Pages load nothing from other hosts and contain no inline scripts.
 */
export function pages({ hasPages, facts, findWidget, demoAccess }: PageSources): Pages {
  const assets = readAssets(hasPages)
  const textOf = (name: string) =>
    ownText(name).replace(/\{\{([\w.-]+)\}\}/g, (_, asset: string) => {
      const found = assets.get(asset)
      if (!found) throw new Error(`${name} asks for ${asset}, which is not in the table of assets`)
      return found.url
    })
  const page = (name: string, html = textOf(name)) => assetOf(name, Buffer.from(html))
  const widget = widgetPages(assets, textOf, facts, findWidget, hasPages)
  const byUrl = new Map([...assets.values()].map((asset) => [asset.url, asset]))
  const forPeople = hasPages ? pagesForPeople(textOf, page, facts, demoAccess) : null
  const notFound = hasPages ? page("not-found.html") : null

  return {
    async serve(context, next) {
      const reading = context.method === "GET" || context.method === "HEAD"
      if (reading && context.path === "/graphql") {
        const isQuery = new URLSearchParams(context.querystring).has("query")
        if (!forPeople || !prefersHtml(context) || isQuery) return next()
        return sendPage(context, forPeople.graphiql(context))
      }
      const ofWidget = widget(context.path)
      if (ofWidget) {
        if (!reading) throw new MethodNotAllowed("GET, HEAD")
        const reply = await ofWidget(context)
        if (!reply) return next()
        context.set(reply.headers)
        return send(context, reply.asset)
      }
      const asset = byUrl.get(context.path)
      const found = forPeople?.find(context.path)
      if (!found && !asset) return next()
      if (!reading) throw new MethodNotAllowed("GET, HEAD")
      return found ? found(context) : sendAsset(context, asset!)
    },
    unknownPath(context) {
      if (!notFound || !prefersHtml(context)) throw new NotFound("Path")
      return sendPage(context, notFound, 404)
    },
  }
}

type Page = (name: string, html?: string) => Asset

/** The pages that people open: what serves each path. */
function pagesForPeople(textOf: (name: string) => string, page: Page, facts: PageSources["facts"], demoAccess: PageSources["demoAccess"]) {
  const docs = page("docs.html")
  const [graphiql, home, inbox] = [textOf("graphiql.html"), textOf("home.html"), textOf("inbox.html")]
  const graphiqlOf = (token: string) => page("graphiql.html", graphiql.replace("<!-- token -->", token))
  const inboxOf = (owner: string) =>
    page(
      "inbox.html",
      inbox.replace("<!-- demo -->", () => owner),
    )
  const [anyGraphiql, anyInbox] = [graphiqlOf(""), inboxOf("")]
  const localDemo = (context: Context) => (isLocal(context) ? demoAccess() : null)
  const pagesByPath = new Map<string, (context: Context) => Promise<void>>([
    ["/", (context) => sendStrict(context, page("home.html", startPage(home, { ...facts(), isLocal: localDemo(context) !== null })))],
    ["/api/docs", (context) => sendPage(context, docs)],
  ])
  async function sendInbox(context: Context) {
    const demo = localDemo(context)
    await sendStrict(context, demo ? inboxOf(demoOwner(demo)) : anyInbox)
  }
  return {
    find: (path: string) => (/^\/inbox(\/|$)/.test(path) ? sendInbox : pagesByPath.get(path)),
    graphiql(context: Context) {
      const demo = localDemo(context)
      return demo ? graphiqlOf(demo.token) : anyGraphiql
    },
  }
}

const proxied = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

/**
 * Whether a request comes from a browser on this machine that opens a page, not through a proxy, to a loopback address (another name may be a
 * rebound one). The script of another site cannot open a page and read it.
 */
function isLocal({ ip, hostname, headers, req }: Context) {
  if (headers["origin"] !== undefined || !["navigate", undefined].includes(headers["sec-fetch-mode"] as string | undefined)) return false
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

/** As `sendPage`, for pages without libraries of others. */
function sendStrict(context: Context, page: Asset) {
  context.set(strictHeaders("'none'"))
  return send(context, page)
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
