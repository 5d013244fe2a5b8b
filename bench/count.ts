import { AsyncLocalStorage } from "node:async_hooks"
import { subscribe } from "node:diagnostics_channel"
import type { IncomingMessage } from "node:http"
import { createRequire } from "node:module"

/**
 * Loaded into a server by `--import`: sends its parent after every request, by its header X-Number, the number of SQL statements of the request,
 * including authentication and the transaction, and without background work (job scheduler, sequencer, heartbeat). When asked for "all", it sends
 * the number of all statements so far, with background work.
 */
let all = 0
const counted = new AsyncLocalStorage<{ statements: number }>()
const counts = new WeakMap<IncomingMessage, { statements: number }>()

subscribe("http.server.request.start", (message) => {
  const count = { statements: 0 }
  counts.set((message as { request: IncomingMessage }).request, count)
  counted.enterWith(count)
})

subscribe("http.server.response.finish", (message) => {
  const { request } = message as { request: IncomingMessage }
  process.send!({ number: request.headers["x-number"], statements: counts.get(request)?.statements })
})

process.on("message", (asked) => {
  if (asked === "all") process.send!({ number: "all", statements: all })
})
// Listening must not keep a process that has stopped.
process.channel?.unref()

// MikroORM, the server and PostGraphile may each have their own version of pg.
const users = ["@mikro-orm/postgresql", "../package.json", "./package.json"]
for (const user of users) {
  const { Client } = createRequire(import.meta.resolve(user))("pg")
  const { query } = Client.prototype
  if (query.isCounted) continue
  Client.prototype.query = Object.assign(
    function (this: unknown, ...args: unknown[]) {
      all++
      const count = counted.getStore()
      if (count) count.statements++
      return query.apply(this, args)
    },
    { isCounted: true },
  )
}
