import { LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Call } from "../entities/call.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { storableJson } from "../entities/kit/storable.js"
import type { CallReportFacts } from "../ports/voice.js"
import { storeFacts } from "./facts.js"
import { callLimits } from "./limits.js"
import { lockProviderId } from "./provider-id.js"

const find: Statement<RowOf<"Call", "id" | "company_id">> = {
  name: "call-of-report",
  text: `select id, company_id from call where provider = $1 and (id = $2 or provider_call_id = $3 or provider_reference = $4)
         order by id = $2 desc nulls last, provider_call_id = $3 desc nulls last limit 1`,
}

/** Under the lock, a dial that is answered at the same time sees the report, or has stored the ID before it. */
const keepReport: Statement = {
  name: "keep-call-report",
  text: `with locked as materialized (select ${lockProviderId})
         insert into call_report (provider, provider_call_id, id, kind, facts, expires_at, created_at)
         select $1, $2, $3::uuid, $4, $5::jsonb, $6::timestamptz, $7::timestamptz from locked
         on conflict (provider, provider_call_id, kind) do nothing`,
}

/** Stores what a provider's webhook reports; a report about a call that is not known yet is kept until its dial is answered. */
export async function receiveReport(services: Services, provider: string, facts: CallReportFacts): Promise<void> {
  if (await report(services, provider, facts)) return
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + callLimits.reportMs)
  const { providerCallId, kind } = facts
  await unscoped(services.database, keepReport, [provider, providerCallId, v7(), kind, JSON.stringify(storableJson(facts)), expiresAt, now])
  // The dial may have been answered meanwhile.
  await report(services, provider, facts)
}

/** Stores a report on its call; false when no call is known. */
async function report(services: Services, provider: string, facts: CallReportFacts): Promise<boolean> {
  const callId = facts.callId && isUuid(facts.callId) ? facts.callId : null
  const [known] = await unscoped(services.database, find, [provider, callId, facts.providerCallId, facts.reference])
  if (!known) return false
  await systemContext(services, known.company_id).transaction(async (tx) => {
    const call = await tx.em.findOne(Call, { id: known.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    // Nothing is known of a call that no provider was asked to dial, whatever names it.
    if (call?.dialedAt) await storeFacts(tx, call, facts)
  })
  return true
}
