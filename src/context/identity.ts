import type { WrittenUpTo } from "../database/replica.js"
import type { MemberRole } from "../entities/company.js"

/** Who sent a request, as its credentials prove. */
export type Identity =
  | { kind: "anonymous" }
  | { kind: "user"; userId: string; sessionId: string; expiresAt: Date; roles: Map<string, MemberRole>; writtenUpTo?: WrittenUpTo | null }
  | { kind: "token"; tokenId: string; companyId: string; readOnly: boolean; writtenUpTo?: WrittenUpTo | null }
  | { kind: "visitor"; chatId: string; connectionId: string; companyId: string; expiresAt: Date }
  | { kind: "system"; companyIds: string[] }

/** The key under which the rate limit counts a request; null for an anonymous one. */
export function credentialOf(identity: Identity): string | null {
  if (identity.kind === "user") return `user:${identity.userId}`
  if (identity.kind === "token") return `token:${identity.tokenId}`
  if (identity.kind === "visitor") return `visitor:${identity.chatId}`
  return null
}

/** In whose room of a shared cache the operations of an identity are kept: that of a company's members, of its visitors, or of strangers. */
export function cacheOwnerOf(identity: Identity): string {
  const company = companiesOf(identity).at(0) ?? "strangers"
  return identity.kind === "visitor" ? `visitors of ${company}` : company
}

/** The companies that an identity reaches. */
export function companiesOf(identity: Identity): string[] {
  if (identity.kind === "user") return [...identity.roles.keys()]
  if (identity.kind === "system") return identity.companyIds
  return identity.kind === "anonymous" ? [] : [identity.companyId]
}

/** Equal for identities that read the same: those of the same kind with the same companies and roles. */
export function reachOf(identity: Identity): string {
  if (identity.kind === "user") return `user ${JSON.stringify([...identity.roles].sort())}`
  if (identity.kind === "visitor") return `visitor ${identity.chatId}`
  return `${identity.kind} ${companiesOf(identity).join(" ")}`
}
