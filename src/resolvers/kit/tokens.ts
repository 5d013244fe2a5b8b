import { v7 } from "uuid"
import { sign } from "../../context/json-web-token.js"
import type { RequestContext } from "../../context/request-context.js"
import { clock } from "../../entities/kit/clock.js"
import { RefreshToken, type Session } from "../../entities/user.js"
import { rootLimits } from "../../limits.js"
import type { TokenPair } from "../../schema/session.js"

/** Issues the next pair of tokens of a session, in the transaction that allowed it. */
export function issueTokenPair(context: RequestContext, session: Session): TokenPair {
  const now = clock.now()
  const { secrets, config } = context.services
  const refresh = new RefreshToken()
  refresh.sessionId = session.id
  refresh.expiresAt = new Date(now.getTime() + rootLimits.refreshTokenSeconds * 1000)
  context.em.persist(refresh)
  const claims = { sub: session.userId, sid: session.id }
  return {
    accessToken: sign({ ...claims, typ: "access", jti: v7() }, secrets.jwtSecret, config.jwtTtlSeconds, now),
    refreshToken: sign({ ...claims, typ: "refresh", jti: refresh.id }, secrets.jwtSecret, rootLimits.refreshTokenSeconds, now),
    tokenType: "Bearer",
    expiresIn: config.jwtTtlSeconds,
  }
}
