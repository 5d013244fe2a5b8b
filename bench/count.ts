import { AsyncLocalStorage } from "node:async_hooks"
import { subscribe } from "node:diagnostics_channel"
import type { IncomingMessage } from "node:http"
import { createRequire } from "node:module"

/**
 * Loaded into a server by `--import`: tells its parent after every request, by its header X-Number, how many SQL statements were sent on behalf of it, with those of
 * authentication and of the transaction, and without what goes on beside it (clock, sequencer, listening).
 */
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

// The mapper, the server beside it and what it is compared with may each have a client of their own.
const users = ["@mikro-orm/postgresql", "../package.json", "./package.json"]
for (const user of users) {
  const { Client } = createRequire(import.meta.resolve(user))("pg")
  const { query } = Client.prototype
  if (query.isCounted) continue
  Client.prototype.query = Object.assign(
    function (this: unknown, ...args: unknown[]) {
      const count = counted.getStore()
      if (count) count.statements++
      return query.apply(this, args)
    },
    { isCounted: true },
  )
}
