import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import { Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { endCall } from "./end-call.js"
import { callLimits } from "./limits.js"
import { lockLines } from "./statements.js"

/**
 * Gives the free lines of a company to its oldest waiting calls, and ends those whose wait is over. It locks the company's lines, so that of
 * several transactions only one does it at a time.
 */
export async function giveLines(tx: RequestContext, companyId: string): Promise<void> {
  await tx.unit.flush()
  const company = await lockLines(tx, companyId)
  const free = Math.max(0, company.voiceLines - company.onLine)
  // A locked call is being changed by a transaction that gives lines itself.
  const waiting = await tx.em.find(
    Call,
    { companyId, status: "queued" },
    {
      orderBy: { callDate: "asc", id: "asc" },
      limit: free + callLimits.waitingBatch,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
      refresh: true,
    },
  )
  if (waiting.length === 0) return
  const now = clock.now()
  const hasSubscription = (await tx.em.findOne(Subscription, { companyId }))?.isActiveAt(now) ?? false
  const mayCall = hasSubscription && company.voiceBalance > 0
  let left = free
  for (const call of waiting) left -= await place(tx, call, now, { mayCall, free: left })
  await tx.unit.flush()
}

/** Decides about one waiting call; returns the number of lines that it takes. */
async function place(tx: RequestContext, call: Call, now: Date, { mayCall, free }: { mayCall: boolean; free: number }): Promise<0 | 1> {
  const waitedMs = now.getTime() - call.callDate.getTime()
  if (waitedMs >= tx.services.config.callQueueWaitMs) return end(tx, call, "not_dialed", "queue_timeout")
  const assistant = call.assistantId ? await tx.em.findOne(Assistant, { id: call.assistantId }) : null
  if (!assistant || assistant.isTerminating) return end(tx, call, "failed", "cancelled")
  if (free <= 0 || (call.queuedUntil && call.queuedUntil > now)) return 0
  if (!mayCall) return end(tx, call, "failed", "cancelled")
  const needsAgent = tx.services.voices.find(({ name }) => name === call.provider)?.capabilities.agents ?? false
  if (needsAgent && !(assistant.voiceAgentProvider === call.provider && assistant.voiceAgentId)) {
    // It is being created, or cannot be.
    const isExpected = assistant.voiceOnDemand || assistant.voiceAgentStatus === "provisioning"
    return isExpected ? 0 : end(tx, call, "failed", "provider_error")
  }
  if (assistant.vaRegistration?.provider === call.provider) {
    if (assistant.voiceAgentStatus === "provisioning") return 0
    if (assistant.voiceAgentStatus === "failed") return end(tx, call, "failed", "provider_error")
  }
  call.takeLine()
  tx.services.metrics.callWait.observe(waitedMs / 1000)
  return 1
}

async function end(tx: RequestContext, call: Call, status: "not_dialed" | "failed", endedReason: Call["endedReason"]): Promise<0> {
  await endCall(tx, call, { status, endedReason: endedReason!, duration: null })
  return 0
}
