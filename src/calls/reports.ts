import type { RequestContext } from "../context/request-context.js"
import type { Call } from "../entities/call.js"
import { CallReport } from "../entities/call-report.js"
import type { CallFacts } from "../ports/voice.js"

/** Reports about a call that came before it was known that its provider dials it; they are used once. */
export async function takeReports(tx: RequestContext, { provider, providerCallId, providerReference }: Call): Promise<CallFacts[]> {
  const names = [providerCallId, providerReference].filter((name) => name !== null)
  const reports = await tx.em.find(CallReport, { provider, providerCallId: { $in: names } }, { orderBy: { createdAt: "asc" } })
  tx.em.remove(reports)
  return reports.map(({ facts }) => facts as CallFacts)
}
