import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import type { Call } from "../entities/call.js"
import { isUuid } from "../entities/kit/scalars.js"
import type { CallFacts } from "../ports/voice.js"

/** An advisory lock on what provider `$1` calls `$2`, until the end of the transaction, as an expression of SQL. */
export const lockProviderId = "pg_advisory_xact_lock(hashtextextended('call/' || $1::text || '/' || $2::text, 0))"

const lock: Statement = { name: "lock-provider-call", text: `select ${lockProviderId}` }

const other: Statement = {
  name: "other-call-of-provider-id",
  text: "select 1 from call where provider = $1 and provider_call_id = $2 and id <> $3 limit 1",
}

/**
 * Gives a locked call the ID that its provider has for it; false when another call has that ID, of whichever company. From here on, reports with the
 * ID find the call; those that came before are stored.
 */
export async function takeProviderId(tx: RequestContext, call: Call, providerCallId: string, reference: string | null): Promise<boolean> {
  if (call.providerCallId === null) {
    await tx.run(lock, [call.provider, providerCallId])
    const isTaken = (await tx.run(other, [call.provider, providerCallId, call.id])).length > 0
    if (isTaken) {
      tx.request.log.warn({ callId: call.id, provider: call.provider, providerCallId }, "a voice provider has given two calls one ID")
      return false
    }
  }
  call.dialed(providerCallId, reference)
  return true
}

/** Whether facts name another call of this server than the one that their provider was asked about. */
export const namesAnother = ({ callId }: Pick<CallFacts, "callId">, id: string): boolean =>
  callId !== null && isUuid(callId) && callId !== id
