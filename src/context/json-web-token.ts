import { createSecretKey, type KeyObject } from "node:crypto"
import jwt from "jsonwebtoken"
import { isUuid } from "../entities/kit/scalars.js"

/** Claims of a session's tokens (contract, section 2): `sub` is the user, `sid` the session. */
export interface SessionClaims {
  typ: "access" | "refresh"
  sub: string
  sid: string
  jti: string
  exp: number
}

/** Claims of a widget visitor's token: `sub` is the chat, `cid` its company. */
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

/** The secret that signs, and the one before it, which still verifies during a rotation. */
export interface SigningSecrets {
  readonly jwtSecret: string
  readonly jwtSecretPrevious: string | null
}

const keys = new Map<string, KeyObject>()

/** The key of a secret, made once: with a text jsonwebtoken makes a key in each call, which takes longer than the signature. */
function keyOf(secret: string): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(Buffer.from(secret))
  keys.set(secret, key)
  return key
}

/** Signs claims that expire after `seconds`, with HS256. */
export const sign = (claims: Omit<SessionClaims, "exp"> | Omit<VisitorClaims, "exp">, secret: string, seconds: number, now: Date) =>
  jwt.sign({ ...claims, iat: Math.floor(now.getTime() / 1000) }, keyOf(secret), { algorithm: "HS256", expiresIn: seconds })

/** Verifies a token and returns its claims; `expired` when its signature is good but its time is over, `invalid` when it is wrongly signed, malformed or of another kind. */
export function verify<T extends keyof ClaimsOf>(token: string, secrets: SigningSecrets, kind: T, now: Date) {
  const claims = verifyWith(secrets.jwtSecret, token, kind, now)
  return claims === "invalid" && secrets.jwtSecretPrevious ? verifyWith(secrets.jwtSecretPrevious, token, kind, now) : claims
}

function verifyWith<T extends keyof ClaimsOf>(secret: string, token: string, kind: T, now: Date): ClaimsOf[T] | "expired" | "invalid" {
  try {
    const claims = jwt.verify(token, keyOf(secret), {
      algorithms: ["HS256"],
      clockTimestamp: Math.floor(now.getTime() / 1000),
    }) as unknown as SessionClaims | VisitorClaims
    const ids = claims.typ === "visitor" ? [claims.sub, claims.cid] : [claims.sub, claims.sid, claims.jti]
    if (claims.typ !== kind || !claims.exp || !ids.every(isUuid)) return "invalid"
    return claims as ClaimsOf[T]
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) return "expired"
    return "invalid"
  }
}
