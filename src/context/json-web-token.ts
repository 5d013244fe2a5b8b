import jwt from "jsonwebtoken"
import { isUuid } from "../entities/kit/scalars.js"

/** What the tokens of a session claim (contract, section 2): `sub` is the user, `sid` the session. */
export interface SessionClaims {
  typ: "access" | "refresh"
  sub: string
  sid: string
  jti: string
  exp: number
}

/** What a widget visitor's token claims: `sub` is the chat, `cid` its company. */
export interface VisitorClaims {
  typ: "visitor"
  sub: string
  cid: string
  exp: number
}

interface ClaimsOf {
  access: SessionClaims
  refresh: SessionClaims
  visitor: VisitorClaims
}

/** Signs claims that end after so many seconds; HS256 and nothing else. */
export const sign = (claims: Omit<SessionClaims, "exp"> | Omit<VisitorClaims, "exp">, secret: string, seconds: number, now: Date) =>
  jwt.sign({ ...claims, iat: Math.floor(now.getTime() / 1000) }, secret, { algorithm: "HS256", expiresIn: seconds })

/** Reads a token back; `expired` when it is ours but past its time, `invalid` when it is not ours, malformed, or of another kind. */
export function verify<T extends keyof ClaimsOf>(token: string, secret: string, kind: T, now: Date): ClaimsOf[T] | "expired" | "invalid" {
  try {
    const claims = jwt.verify(token, secret, { algorithms: ["HS256"], clockTimestamp: Math.floor(now.getTime() / 1000) }) as unknown as
      | SessionClaims
      | VisitorClaims
    const ids = claims.typ === "visitor" ? [claims.sub, claims.cid] : [claims.sub, claims.sid, claims.jti]
    if (claims.typ !== kind || !claims.exp || !ids.every(isUuid)) return "invalid"
    return claims as ClaimsOf[T]
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) return "expired"
    return "invalid"
  }
}
