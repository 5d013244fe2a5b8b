import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"

/** An HTTP proxy that adds an access token to each request, for clients that cannot send one. */
export interface TokenProxy {
  url: string
  /** Forwards to this server from now on. */
  target(url: string, token: string): void
  close(): Promise<void>
}

/** Starts a proxy; every other header, `Host` too, goes through as it is. */
export async function tokenProxy(): Promise<TokenProxy> {
  let to: { url: string; token: string } | undefined
  const server = createServer((incoming, outgoing) => {
    const { hostname, port } = new URL(to!.url)
    const headers = { ...incoming.headers, "X-Access-Token": to!.token }
    const forwarded = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on("error", (error) => outgoing.destroy(error))
    incoming.pipe(forwarded)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target(url, token) {
      to = { url, token }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
