import type { Database } from "../database/connect.js"
import type { WrittenUpTo } from "../database/replica.js"
import type { RowOf } from "../database/tables.js"
import { together } from "../database/together.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { positionOfKeys } from "../database/write-position.js"
import { looksLikeToken, tokenDigest, tokenStart } from "../entities/access-token.js"
import { clock } from "../entities/kit/clock.js"
import { Unauthenticated } from "../errors/errors.js"
import { oncePer } from "../once-per.js"
import type { Identity } from "./identity.js"
import { verify } from "./json-web-token.js"
import { contextLimits } from "./limits.js"
import type { Services } from "./services.js"

/** Credentials as the client sent them: an access token, an Authorization header, or neither. */
export interface Credentials {
  accessToken?: string | null
  authorization?: string | null
}

/** 401 for a genuine credential that has expired: the client may refresh its session and retry. */
export class ExpiredCredentials extends Unauthenticated {}

/** What the credential has written (`WrittenUpTo`), and when it was made. */
interface Written {
  position: string | null
  running_since: string | null
  created_at: string
}

/** The columns of `Written`; nobody asks for them without a replica. */
const written = (hasReplica: boolean, keys: string) => (hasReplica ? positionOfKeys(keys) : "null as position, null as running_since")

/** What a credential has written; null without a replica, and for a new one: a replica may not have yet what that was made for. */
function writtenUpTo({ position, running_since: runningSince, created_at: createdAt }: Written): WrittenUpTo | null {
  const isNew = clock.now().getTime() - new Date(createdAt).getTime() < contextLimits.newCredentialSeconds * 1000
  return runningSince === null || isNew ? null : { position, runningSince }
}

const tokensByDigest = (
  hasReplica: boolean,
): Statement<RowOf<"AccessToken", "id" | "company_id" | "last_used_at" | "expires_at" | "read_only" | "digest"> & Written> => ({
  name: "tokens-by-digest",
  text: `select id, company_id, last_used_at, expires_at, read_only, digest, created_at,
           ${written(hasReplica, "'token:' || id, 'company:' || company_id")}
         from access_token where digest = any($1) and revoked_at is null`,
})

const touchToken = {
  name: "touch-token",
  text: "update access_token set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $3)",
}

const sessionWithMemberships = (
  hasReplica: boolean,
): Statement<{ [P in keyof RowOf<"Member", "company_id" | "role">]: RowOf<"Member", "company_id" | "role">[P] | null } & Written> => ({
  name: "session-with-memberships",
  text: `select m.company_id, m.role, s.created_at,
           ${written(hasReplica, "select 'user:' || $2::uuid union all select 'company:' || company_id from member where user_id = $2")}
         from session s left join (member m join company c on c.id = m.company_id and c.closed_at is null) on m.user_id = s.user_id
         where s.id = $1 and s.user_id = $2 and s.ended_at is null`,
})
const sessionWithPosition = sessionWithMemberships(true)
const sessionWithoutPosition = sessionWithMemberships(false)

/** The active connection of a visitor's chat. */
const connectionOfVisitor: Statement<RowOf<"Channel", "id">> = {
  name: "connection-of-visitor",
  text: `select h.id from chat c
         join channel h on h.company_id = c.company_id and h.messenger = c.messenger and h.external_id = c.from_id and h.is_active
         where c.id = $1 and c.company_id = $2`,
}

/** Returns the identity behind credentials; throws Unauthenticated for bad ones. The access token decides when both are sent. */
export async function authenticate(
  services: Pick<Services, "database" | "log" | "secrets" | "replica">,
  { accessToken, authorization }: Credentials,
): Promise<Identity> {
  if (accessToken) return byAccessToken(services, accessToken)
  if (!authorization) return { kind: "anonymous" }
  const [scheme, token, ...rest] = authorization.trim().split(/\s+/)
  if (scheme?.toLowerCase() !== "bearer" || !token || rest.length > 0)
    throw new Unauthenticated("Authorization must be: Bearer, a space, and the token")
  if (token.startsWith(tokenStart)) return byAccessToken(services, token)
  return (await bySession(services, token)) ?? byVisitorToken(services, token)
}

async function byAccessToken(services: Pick<Services, "database" | "log" | "replica">, value: string): Promise<Identity> {
  if (!value.startsWith(tokenStart))
    throw new Unauthenticated("This is no access token; a JWT belongs in the header Authorization, after Bearer")
  if (!looksLikeToken(value)) throw new Unauthenticated("The access token is malformed: a character is missing or mistyped")
  const row = await (services.replica ? tokensWithPositionOf : tokensOf)(services.database)(tokenDigest(value))
  if (!row) throw new Unauthenticated("The access token is unknown or revoked")
  // Not as ExpiredCredentials, which its client could refresh.
  if (row.expires_at && new Date(row.expires_at) <= clock.now()) throw new Unauthenticated("The access token has expired")
  touch(services, row.id, row.last_used_at)
  return { kind: "token", tokenId: row.id, companyId: row.company_id, readOnly: row.read_only, writtenUpTo: writtenUpTo(row) }
}

/** Looks tokens up. Results are not cached, so a revocation holds at once. */
const lookUpOf = (statement: ReturnType<typeof tokensByDigest>) =>
  oncePer((database: Database) =>
    together(async (digests: readonly string[]) => {
      const rows = await unscoped(database, statement, [digests])
      const byDigest = new Map(rows.map((row) => [row.digest, row]))
      return digests.map((digest) => byDigest.get(digest))
    }),
  )
const tokensOf = lookUpOf(tokensByDigest(false))
const tokensWithPositionOf = lookUpOf(tokensByDigest(true))

function touch(services: Pick<Services, "database" | "log">, id: string, lastUsedAt: string | null) {
  const now = clock.now()
  const before = new Date(now.getTime() - contextLimits.accessTokenTouchSeconds * 1000)
  if (lastUsedAt && new Date(lastUsedAt) >= before) return
  unscoped(services.database, touchToken, [id, now, before]).catch((error) =>
    services.log.warn({ err: error }, "lastUsedAt was not written"),
  )
}

async function bySession(services: Pick<Services, "secrets" | "database" | "replica">, token: string): Promise<Identity | null> {
  const claims = verify(token, services.secrets, "access", clock.now())
  if (claims === "expired") throw new ExpiredCredentials("The token has expired: refresh the session")
  if (claims === "invalid") return null
  const rows = await unscoped(services.database, services.replica ? sessionWithPosition : sessionWithoutPosition, [claims.sid, claims.sub])
  if (rows.length === 0) throw new Unauthenticated("The session has ended: sign in again")
  const roles = new Map(rows.flatMap(({ company_id, role }) => (company_id && role ? [[company_id, role]] : [])))
  const expiresAt = new Date(claims.exp * 1000)
  return { kind: "user", userId: claims.sub, sessionId: claims.sid, expiresAt, roles, writtenUpTo: writtenUpTo(rows[0]!) }
}

async function byVisitorToken(services: Pick<Services, "secrets" | "database">, token: string): Promise<Identity> {
  const claims = verify(token, services.secrets, "visitor", clock.now())
  if (claims === "invalid" || claims === "expired") throw new Unauthenticated("The bearer token is not valid")
  const [row] = await unscoped(services.database, connectionOfVisitor, [claims.sub, claims.cid])
  if (!row) throw new Unauthenticated("The visitor's chat was deleted, or its widget was disconnected")
  return { kind: "visitor", chatId: claims.sub, connectionId: row.id, companyId: claims.cid, expiresAt: new Date(claims.exp * 1000) }
}
