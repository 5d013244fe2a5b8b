import type { IncomingMessage, Server } from "node:http"
import type { Duplex } from "node:stream"
import { type ApiError, NotFound, toRestBody } from "../../errors/errors.js"
import type { SampledLog } from "../../observability/sampled-log.js"

/** A protocol that takes over upgraded connections. */
export interface UpgradeHandler {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Asks every client to come back, and resolves when all connections are closed. */
  close(): Promise<void>
}

/**
 * Whether a request asks for a protocol that a handler speaks. Another one, such as the h2c of Java's HttpClient, is ignored, and the request is
 * answered over HTTP/1.1 (RFC 9110, section 7.8). An option of the HTTP server, `shouldUpgradeCallback`.
 */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket"
}

/** Passes each upgrade to the handler of its path; an unknown path is 404. */
export function serveUpgrades(http: Server, handlers: Readonly<Record<string, UpgradeHandler>>, log: SampledLog) {
  const byPath = new Map(Object.entries(handlers))
  http.on("upgrade", (request, socket, head) => {
    // Node no longer listens to the socket: without a listener, a client that resets the connection would end the process.
    socket.on("error", (error) => log.line("debug", "the client ended an upgrade", { err: error }))
    // Not parsed with URL, whose exception for a malformed path would not be caught here.
    const handler = byPath.get(request.url?.split("?")[0] ?? "")
    if (handler) handler.upgrade(request, socket, head)
    else refuseUpgrade(socket, new NotFound("Path"))
  })
}

/** Refuses an upgrade with the status of an error, and closes the connection. */
export function refuseUpgrade(socket: Duplex, error: ApiError) {
  const { statusCode, error: phrase } = toRestBody(error, "")
  const headers = Object.entries({ ...error.headers, Connection: "close", "Content-Length": "0" })
  // The client may never close its half of the connection.
  socket.once("finish", () => socket.destroy())
  socket.end([`HTTP/1.1 ${statusCode} ${phrase}`, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n"))
}
