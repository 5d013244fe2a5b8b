import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { happens } from "./wait.js"

/** A TCP proxy between a server and its database, which can inject faults. */
export interface TcpProxy {
  /** The database's address through the proxy. */
  url: string
  /** Number of attempted connections. */
  attempts(): number
  /** Number of open connections. */
  open(): number
  /** Forwards everything: the initial state. */
  pass(): void
  /** Leads new connections to another address. */
  lead(databaseUrl: string): void
  /** Resets all connections, and each new one as soon as it is made. */
  reset(): void
  /** Accepts connections and bytes, and sends nothing. */
  hang(): void
  close(): Promise<void>
}

/** Starts a proxy in front of a database. */
export async function tcpProxy(databaseUrl: string): Promise<TcpProxy> {
  let target = new URL(databaseUrl)
  const pairs = new Set<[Socket, Socket]>()
  const silent = new Set<Socket>()
  let mode: "pass" | "reset" | "hang" = "pass"
  let attempts = 0
  const join = (near: Socket) => {
    const far = connect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on("data", (bytes) => void (mode === "pass" && to.write(bytes)))
      from.on("error", () => {})
      from.on("close", () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
  }
  const server = createServer((near) => {
    attempts += 1
    near.on("error", () => {})
    if (mode === "reset") near.resetAndDestroy()
    else if (mode === "pass") join(near)
    else {
      silent.add(near.resume())
      near.on("close", () => silent.delete(near))
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = new URL(databaseUrl)
  url.hostname = "127.0.0.1"
  url.port = String((server.address() as { port: number }).port)
  const cut = () => {
    for (const near of [...silent, ...[...pairs].map(([each]) => each)]) near.resetAndDestroy()
  }
  return {
    url: url.href,
    attempts: () => attempts,
    open: () => pairs.size,
    pass() {
      mode = "pass"
      // Dropped bytes cannot be sent later.
      for (const near of silent) near.resetAndDestroy()
    },
    lead(other) {
      target = new URL(other)
    },
    reset() {
      mode = "reset"
      cut()
    },
    hang() {
      mode = "hang"
    },
    async close() {
      cut()
      await happens("the proxy is closed", once(server.close(), "close"), () => `${pairs.size} connections are open`)
    },
  }
}
