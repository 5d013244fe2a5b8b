import type { SealingKeys } from "../entities/kit/sealed.js"
import { unseal } from "../entities/kit/sealed.js"
import type { Account } from "../ports/channel.js"

/** Columns of a connection from which its account is read. */
export interface SealedAccount {
  id: string
  companyId: string
  externalId: string
  name: string
  credentials: string | null
}

/** The account of a connection, with its credentials decrypted. */
export function accountOf({ id, companyId, externalId, name, credentials }: SealedAccount, keys: SealingKeys): Account {
  const text = credentials ? unseal(credentials, keys.encryptionKey, keys.encryptionKeyPrevious) : "{}"
  return { companyId, connectionId: id, externalId, name, credentials: JSON.parse(text) }
}
