import type { Context } from "koa"
import { type Asset, assetOf } from "./assets.js"
import type { StartPageFacts } from "./start-page.js"
import { strictHeaders } from "./strict-headers.js"

/** Whether the chat widget of a connection may be shown to a client. Throws `RateLimited`. */
export type FindWidget = (context: Context, connectionId: string) => Promise<boolean>

/** What a client gets: a file, and the headers that go with it. */
interface Reply {
  asset: Asset
  headers: Record<string, string>
}

/** Pages of any site load the scripts. */
const forAnySite = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" }

/**
 * The chat widget: `/widget.js` (its button), the chat that the button loads, `/widget/{connectionId}` (the chat as a page of its own) and,
 * with the demo and pages for people, `/demo`. Returns a function that finds what serves a path: null for other paths; it returns null for an unknown connection.
 */
export function widgetPages(
  assets: Map<string, Asset>,
  textOf: (name: string) => string,
  facts: () => Pick<StartPageFacts, "demo">,
  findWidget: FindWidget,
  hasPages: boolean,
): (path: string) => ((context: Context) => Promise<Reply | null>) | null {
  const script = assetOf("widget.js", Buffer.from(textOf("widget.js")))
  const chat = assets.get("widget-chat.js")!
  const pageText = textOf("widget.html")
  const demoText = hasPages ? textOf("demo.html") : ""
  const page = (text: string, connectionId: string, frameAncestors: string): Reply => ({
    asset: assetOf("widget.html", Buffer.from(text.replace("<!-- connection -->", connectionId))),
    headers: strictHeaders(frameAncestors),
  })
  const demo = async () => {
    const { demo: shown } = facts()
    return shown && page(demoText, shown.widgetId, "'none'")
  }
  return (path) => {
    // At an address that stays, so that sites get a new version; the chat's address changes with its content.
    if (path === "/widget.js") return async () => ({ asset: script, headers: { ...forAnySite, "Cache-Control": "no-cache" } })
    if (path === "/demo" && hasPages) return demo
    if (/^\/assets\/widget-chat-[\w-]{16}\.js$/.test(path)) {
      // The button of a page that was open during an update asks for the chat of another version.
      const caching = path === chat.url ? "public, max-age=31536000, immutable" : "no-cache"
      return async () => ({ asset: chat, headers: { ...forAnySite, "Cache-Control": caching } })
    }
    const connectionId = /^\/widget\/([\da-f-]{36})$/i.exec(path)?.[1]
    if (!connectionId) return null
    return async (context) => ((await findWidget(context, connectionId)) ? page(pageText, connectionId, "*") : null)
  }
}
