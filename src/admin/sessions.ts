import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Session } from "../entities/user.js"
import { rootLimits } from "../limits.js"
import { type Command, change, Refusal } from "./kit.js"
import { user, userOf } from "./people.js"

type SessionRow = RowOf<"Session", "id" | "user_id" | "created_at"> & RowOf<"RefreshToken", "expires_at">

/** Sessions with a refresh token that is still valid. One without can never be used again. */
const sessionsWhere = (name: string, condition: string): Statement<SessionRow> => ({
  name,
  text: `select s.id, s.user_id, s.created_at, max(r.expires_at) as expires_at from session s join refresh_token r on r.session_id = s.id
         where ${condition} and r.expires_at > $2 group by s.id order by s.created_at desc, s.id desc`,
})

const openSessionsOfUser = sessionsWhere("open-sessions-of-user", "s.user_id = $1 and s.ended_at is null")
const sessionById = sessionsWhere("session-by-id", "s.id = $1")

/** The last use is the time of the last sign-in or refresh: each of them issues a refresh token. */
const shown = ({ id, user_id, created_at, expires_at }: SessionRow) => {
  const expiresAt = new Date(expires_at)
  const lastUsedAt = new Date(expiresAt.getTime() - rootLimits.refreshTokenSeconds * 1000)
  return { id, userId: user_id, createdAt: new Date(created_at), lastUsedAt, expiresAt }
}

/** Commands for the sessions of users. */
export const sessionCommands: Record<string, Command> = {
  "session:list": {
    does: "Lists a user's open sessions, newest first; lastUsedAt is the last sign-in or refresh.",
    options: user,
    async run(desk, options) {
      const { id } = await change(desk, [], (unit) => userOf(unit, options["user"]!))
      return (await unscoped(desk.database, openSessionsOfUser, [id, clock.now()])).map(shown)
    },
  },
  "session:end": {
    does: "Ends a session, with its tokens and open sockets.",
    options: { id: { required: true, description: "the session's id" } },
    async run(desk, options) {
      const id = options["id"]!
      const [row] = isUuid(id) ? await unscoped(desk.database, sessionById, [id, clock.now()]) : []
      if (!row) throw new Refusal(`No session has the id ${id}`)
      await change(desk, [], async ({ em }) => {
        const session = await em.findOneOrFail(Session, { id: row.id })
        session.endedAt ??= clock.now()
      })
      await desk.wakeUp.publish("credentials", row.id)
      return shown(row)
    },
  },
}
