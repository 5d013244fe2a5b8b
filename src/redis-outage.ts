import type { Redis } from "ioredis"
import type { Logger } from "pino"

/**
 * Logs an outage of Redis in one line without a stack, and its end. The clients connect again by themselves: their further attempts are logged
 * at level debug, unless they fail for another reason.
 */
export function logOutages(clients: Redis[], log: Logger, consequence: string): void {
  const lost = new Set<Redis>()
  const reasons = new Set<string>()
  for (const client of clients) {
    const { host, port, path } = client.options
    client.on("error", (error: NodeJS.ErrnoException) => {
      lost.add(client)
      // With several addresses, the error has no message.
      const reason = error.message || error.code || "unknown reason"
      if (reasons.has(reason)) return log.debug({ err: error }, "Redis is still not reachable")
      reasons.add(reason)
      log.warn(`Redis at ${path ?? `${host}:${port}`} is not reachable: ${reason}; ${consequence}`)
    })
    client.on("ready", () => {
      lost.delete(client)
      if (reasons.size === 0 || lost.size > 0) return
      reasons.clear()
      log.info("Redis is reachable again")
    })
  }
}
