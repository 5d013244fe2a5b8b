import type { Logger } from "pino"
import type { Identity } from "../../context/identity.js"
import type { Database } from "../../database/connect.js"
import type { Statement } from "../../database/unit-of-work.js"
import { unscoped } from "../../database/unscoped.js"
import { clock } from "../../entities/kit/clock.js"
import { eventLimits } from "../limits.js"
import type { OpenWakeUp } from "../wake-up.js"

interface OpenSocket {
  identity: Identity
  /** The company that it was opened for. */
  companyId: string | null
  close(code: number, reason: string): void
}

/** Longest time that a timer can wait. */
const timerMaxMs = 2 ** 31 - 1

/** What differs from when a socket was opened: its token or session ended (no roles), or its user has other places in companies. */
const changed: Statement<{ place: number; roles: Record<string, string> | null }> = {
  name: "sockets-changed",
  text: `select asked.place, held.roles
         from jsonb_to_recordset($1::jsonb) as asked(place integer, token uuid, session uuid, roles jsonb)
         left join access_token t on t.id = asked.token and t.revoked_at is null
         left join session s on s.id = asked.session and s.ended_at is null
         left join lateral (
           select coalesce(jsonb_object_agg(m.company_id, m.role), '{}') as roles from member m where m.user_id = s.user_id
         ) held on s.id is not null
         where (t.id is null and s.id is null) or held.roles <> asked.roles`,
}

/**
 * The open sockets of this process. Those whose credentials have ended are closed: a wake-up says when to look, and every second they are
 * looked up anyway, since an instance that dies between its commit and its wake-up wakes nobody.
 */
export class OpenSockets {
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
      if ([...this.#open].some(({ identity }) => credentialIds(identity).includes(id))) this.look()
    })
    this.#timer = setInterval(() => this.look(), eventLimits.revokedSocketMs)
  }

  /** Stops looking. */
  async close() {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** Notes an open socket; it is closed with 4403 when its JWT ends. Answers how to forget it. */
  enter(identity: Identity, close: OpenSocket["close"], companyId: string | null = null): () => void {
    const socket = { identity, companyId, close }
    this.#open.add(socket)
    const left =
      identity.kind === "user" || identity.kind === "visitor" ? identity.expiresAt.getTime() - clock.now().getTime() : timerMaxMs + 1
    const timer = left > timerMaxMs ? undefined : setTimeout(() => close(4403, "The token has expired"), Math.max(0, left))
    timer?.unref()
    return () => {
      clearTimeout(timer)
      this.#open.delete(socket)
    }
  }

  /** Closes what has ended, again when it was asked meanwhile. */
  private look() {
    this.#again = true
    this.#looking ??= this.lookUp().catch((error) => this.log.error({ err: error }, "open sockets are looked up again in a second"))
  }

  private async lookUp() {
    try {
      while (this.#again) {
        this.#again = false
        await this.closeChanged()
      }
    } finally {
      // In the same tick as the last question whether to look again, so that no wake-up falls in between.
      this.#looking = null
    }
  }

  /** One statement for all sockets; none while none is open. */
  private async closeChanged() {
    const sockets = [...this.#open].filter(({ identity }) => credentialIds(identity).length > 0)
    if (sockets.length === 0) return
    const asked = sockets.map(({ identity }, place) => ({ place, ...believed(identity) }))
    for (const { place, roles } of await unscoped(this.database, changed, [JSON.stringify(asked)])) {
      const { identity, companyId, close } = sockets[place]!
      if (!roles || identity.kind !== "user") close(4401, "The credentials were revoked")
      else if ((companyId ? [companyId] : [...identity.roles.keys()]).some((id) => !roles[id]))
        close(4403, "This company is not yours any more")
      // Its companies were looked up when it was opened: it comes back, and finds what was added.
      else close(1012, "Come back and resume")
    }
  }
}

/** What a wake-up names a socket's credentials by: the token, or the session and its user. */
function credentialIds(identity: Identity): string[] {
  if (identity.kind === "token") return [identity.tokenId]
  return identity.kind === "user" ? [identity.sessionId, identity.userId] : []
}

/** What was true of the credentials when the socket was opened. */
function believed(identity: Identity) {
  if (identity.kind === "user") return { session: identity.sessionId, roles: Object.fromEntries(identity.roles) }
  return identity.kind === "token" ? { token: identity.tokenId } : {}
}
