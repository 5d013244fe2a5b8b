import { once } from "node:events"
import { createServer } from "node:http"
import { happens } from "./wait.js"

interface HostOptions {
  html?: string
  server?: string
  /** CSS of the page. */
  css?: string
  /** Connection of a second widget, on the left. */
  other?: string
}

/** A web server of another origin, whose page has the widget of a server and allows nothing else. */
export interface HostSite {
  /** Address of the page with these attributes of the script element, and this start of the document. */
  page(attributes: Record<string, string>, options?: HostOptions): string
  close(): Promise<void>
}

/** Starts a site with the strictest policy under which the widget works: scripts from and connections to its server, and nothing inline. */
export async function startHostSite(): Promise<HostSite> {
  const server = createServer((request, response) => {
    const query = new URL(request.url!, "http://host").searchParams
    const from = query.get("server")!
    const css = query.get("css")
    const styles = css ? `; style-src 'nonce-host'` : ""
    const policy = `default-src 'none'; script-src ${from}; connect-src ${from} ${from.replace("http", "ws")}; require-trusted-types-for 'script'; base-uri 'none'${styles}`
    response.setHeader("Content-Security-Policy", policy).setHeader("Content-Type", "text/html; charset=utf-8")
    const attributes = [...query].filter(([name]) => name.startsWith("data-")).map(([name, value]) => `${name}="${value}"`)
    const script = query.has("data-connection") ? `<script async src="${from}/widget.js" ${attributes.join(" ")}></script>` : ""
    const style = css ? `<style nonce="host">${css}</style>` : ""
    const other = query.get("other")
    const second = other ? `<script async src="${from}/widget.js" data-connection="${other}" data-position="left"></script>` : ""
    response.end(
      `<!doctype html><html ${query.get("html") ?? 'lang="en"'}><title>Host</title>${style}<body><main><h1>A shop</h1></main>${script}${second}</body></html>`,
    )
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  return {
    page: (attributes, { html, css, other, server: from } = {}) => {
      const extra = Object.entries({ html, css, other }).filter(([, value]) => value) as [string, string][]
      const data = Object.entries(attributes).map(([name, value]) => [`data-${name}`, value])
      return `http://127.0.0.1:${port}/?${new URLSearchParams([...data, ...extra, ["server", from!]] as [string, string][])}`
    },
    async close() {
      const closed = once(server.close(), "close")
      server.closeAllConnections()
      await happens("the host page's server is closed", closed)
    },
  }
}
