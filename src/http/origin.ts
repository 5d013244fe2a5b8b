import type { Context } from "koa"
import { type Config, isLoopback, publicUrl } from "../config/config.js"
import { Forbidden } from "../errors/errors.js"

/**
 * Throws for a request from a page of an origin that is neither this server's nor in `CORS_ORIGINS`. The header Host proves nothing: a page
 * whose name was made to lead to this machine (DNS rebinding) has its own name in both.
 */
export function mustBeKnownOrigin(config: Config, ctx: Context) {
  const origin = ctx.get("Origin")
  const { corsOrigins } = config
  if (!origin || corsOrigins.includes("*") || corsOrigins.includes(origin)) return
  if (!isOwn(origin, publicUrl(config, ctx.req.socket.localPort)))
    throw new Forbidden("Pages of this origin may not use the server; its operator lists those that may in CORS_ORIGINS")
}

function isOwn(origin: string, url: string): boolean {
  const own = new URL(url)
  if (origin === own.origin) return true
  const given = URL.canParse(origin) ? new URL(origin) : null
  // The names of one machine for itself.
  return (
    given !== null && isLoopback(own.hostname) && isLoopback(given.hostname) && given.port === own.port && given.protocol === own.protocol
  )
}
