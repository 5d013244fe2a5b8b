import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** The response of a page; a function writes the response itself. */
export type SitePage =
  | { status?: number; headers?: Record<string, string>; body?: string | Buffer }
  | ((request: IncomingMessage, response: ServerResponse) => void)

/** A web site on a local port; set pages by path, read `requests` for the requests. */
export interface Site {
  /** Base address, `http://127.0.0.1:port`. */
  url: string
  pages: Record<string, SitePage>
  requests: { path: string; headers: IncomingMessage["headers"] }[]
  close(): Promise<void>
}

/** Starts a site without pages; other paths are 404. */
export async function openSite(): Promise<Site> {
  const site: Omit<Site, "url"> = {
    pages: {},
    requests: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer((request, response) => {
    const path = request.url!
    site.requests.push({ path, headers: request.headers })
    const page = site.pages[path] ?? { status: 404, body: "Nothing here" }
    if (typeof page === "function") return page(request, response)
    response.writeHead(page.status ?? 200, { "content-type": "text/html; charset=utf-8", ...page.headers }).end(page.body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return Object.assign(site, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** An ordinary page: a heading, paragraphs, and navigation around them. */
export const webPage = (title: string, ...paragraphs: string[]) =>
  `<!doctype html><html><head><title>${title}</title><script>track()</script></head><body><nav><a href="/">Home</a></nav><main><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join("")}</main><footer>Imprint</footer></body></html>`
