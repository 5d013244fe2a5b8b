import type { Logger } from "pino"
import type { Identity } from "../../context/identity.js"
import type { Database } from "../../database/connect.js"
import type { Statement } from "../../database/unit-of-work.js"
import { unscoped } from "../../database/unscoped.js"
import { clock } from "../../entities/kit/clock.js"
import { eventLimits } from "../limits.js"
import type { OpenWakeUp } from "../wake-up.js"
import { SocketOperations } from "./socket-operations.js"

/**
 * Why a socket is closed. `revoked`: its credentials ended. `expired`: its JWT did. `company lost`: the user is no member any more.
 * `memberships changed`: the socket has the companies from when it was opened, and a client that reconnects gets the new ones.
 */
export type CloseCause = "revoked" | "expired" | "company lost" | "memberships changed"

interface OpenSocket {
  identity: Identity
  /** The company of the connection. */
  companyId: string | null
  close(cause: CloseCause): void
}

/** Longest delay of a Node timer. */
const timerMaxMs = 2 ** 31 - 1

/**
 * The sockets whose credentials changed since they were opened: the token (which may have expired), the session, or the chat or connection
 * of a visitor ended (no roles), or the user's memberships differ.
 */
const changed: Statement<{ place: number; roles: Record<string, string> | null }> = {
  name: "sockets-changed",
  text: `select asked.place, held.roles
         from jsonb_to_recordset($1::jsonb) as asked(place integer, token uuid, session uuid, chat uuid, connection uuid, roles jsonb)
         left join access_token t on t.id = asked.token and t.revoked_at is null and (t.expires_at is null or t.expires_at > $2)
         left join session s on s.id = asked.session and s.ended_at is null
         left join chat c on c.id = asked.chat
         left join channel h on h.id = asked.connection and h.external_id = c.from_id and h.is_active
         left join lateral (
           select coalesce(jsonb_object_agg(m.company_id, m.role), '{}') as roles
           from member m join company on company.id = m.company_id and company.closed_at is null where m.user_id = s.user_id
         ) held on s.id is not null
         where (t.id is null and s.id is null and h.id is null) or held.roles <> asked.roles`,
}

/**
 * The open sockets of this process. Sockets whose credentials ended are closed: after a wake-up, and by a check every second, in case an
 * instance crashed between its commit and its wake-up.
 */
export class OpenSockets {
  /** Limits what runs on them. */
  readonly operations = new SocketOperations()
  #open = new Set<OpenSocket>()
  #looking: Promise<void> | null = null
  #again = false
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly database: Database,
    wakeUp: OpenWakeUp,
    private readonly log: Logger,
  ) {
    wakeUp.subscribe("credentials", (id) => {
      if ([...this.#open].some(({ identity }) => credentialIds(identity).includes(id))) this.checkCredentials()
    })
    this.#timer = setInterval(() => this.checkCredentials(), eventLimits.revokedSocketMs)
  }

  /** Stops the checks. */
  async close() {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** Number of open sockets. */
  get size() {
    return this.#open.size
  }

  /** Registers a socket, which is also closed when its JWT expires; returns a function that unregisters it. */
  enter(identity: Identity, close: OpenSocket["close"], companyId: string | null = null): () => void {
    const socket = { identity, companyId, close }
    this.#open.add(socket)
    const left =
      identity.kind === "user" || identity.kind === "visitor" ? identity.expiresAt.getTime() - clock.now().getTime() : timerMaxMs + 1
    const timer = left > timerMaxMs ? undefined : setTimeout(() => close("expired"), Math.max(0, left))
    timer?.unref()
    return () => {
      clearTimeout(timer)
      this.#open.delete(socket)
    }
  }

  /** Closes sockets whose credentials ended; checks once more when it was called meanwhile. */
  private checkCredentials() {
    this.#again = true
    this.#looking ??= this.lookUp().catch((error) =>
      this.log.error({ err: error }, "credentials of open sockets could not be checked; retrying in a second"),
    )
  }

  private async lookUp() {
    try {
      while (this.#again) {
        this.#again = false
        await this.closeChanged()
      }
    } finally {
      // In the same tick as the last check of #again, so that no wake-up is lost in between.
      this.#looking = null
    }
  }

  /** Checks all sockets with one statement; with none when no socket is open. */
  private async closeChanged() {
    const sockets = [...this.#open].filter(({ identity }) => credentialIds(identity).length > 0)
    if (sockets.length === 0) return
    const asked = sockets.map(({ identity }, place) => ({ place, ...credentialState(identity) }))
    for (const { place, roles } of await unscoped(this.database, changed, [JSON.stringify(asked), clock.now()])) {
      const { identity, companyId, close } = sockets[place]!
      if (!roles || identity.kind !== "user") close("revoked")
      else if ((companyId ? [companyId] : [...identity.roles.keys()]).some((id) => !roles[id])) close("company lost")
      else close("memberships changed")
    }
  }
}

/** IDs of a socket's credentials in wake-ups: the token, the session and its user, or a visitor's chat and its connection. */
function credentialIds(identity: Identity): string[] {
  if (identity.kind === "token") return [identity.tokenId]
  if (identity.kind === "visitor") return [identity.chatId, identity.connectionId]
  return identity.kind === "user" ? [identity.sessionId, identity.userId] : []
}

/** The state of the credentials when the socket was opened. */
function credentialState(identity: Identity) {
  if (identity.kind === "user") return { session: identity.sessionId, roles: Object.fromEntries(identity.roles) }
  if (identity.kind === "visitor") return { chat: identity.chatId, connection: identity.connectionId }
  return identity.kind === "token" ? { token: identity.tokenId } : {}
}
