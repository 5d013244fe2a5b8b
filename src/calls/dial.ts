import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import type { CallVariables } from "../entities/call-row.js"
import { Company, Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import type { DialRequest, DialResult, VoiceProvider } from "../ports/voice.js"
import { agentOfCall } from "./agent.js"
import { assistantOfCall } from "./conversation.js"
import { endCall } from "./end-call.js"
import { type ClaimedCall, dialAccepted, requestSignal } from "./facts.js"
import { sendHooks } from "./hooks.js"
import { callLimits } from "./limits.js"
import { giveLines } from "./lines.js"
import { systemVariables } from "./originate.js"
import { variablesOfResponse } from "./variables.js"

/** Dials a call once: its variables are completed, the intent to dial is committed, then the provider is asked. */
export async function dial(lease: Lease<Call>, claimed: ClaimedCall, provider: VoiceProvider): Promise<void> {
  const { context } = lease
  const initial = await initialVariables(lease, claimed)
  if (!initial) return
  const request = await intend(context, claimed, initial, provider)
  if (request === "lost") return
  if (!request) return cancel(lease)
  // From here on the call is never dialed again unless the provider knows that it was not.
  const result = await ask(context, provider, request, lease)
  await lease.store((call, tx) => storeResult(tx, call, result))
}

/** The variables that the webhook_init tools answer; null when the lease was lost. */
async function initialVariables(lease: Lease<Call>, call: ClaimedCall): Promise<CallVariables | null> {
  const { callId, assistantId, phoneNumber, variables: dynamicVariables } = call
  const params = { callId, assistantId, phoneNumber, dynamicVariables }
  const sent = await sendHooks(lease.context, callId, "webhook_init", params, (row) => row.line.holds(call.runId))
  if (!sent) return null
  const answers = sent.flatMap(({ tool, outcome }) => {
    const variables = outcome.success ? variablesOfResponse(outcome.body) : null
    if (!variables) lease.context.request.log.warn({ toolId: tool.id }, "a webhook_init tool gave no variables")
    return variables ? [variables] : []
  })
  return Object.assign({}, ...answers)
}

/** Commits the intent to dial; null when the company may not call any more, `lost` when another worker has the call. */
function intend(
  context: RequestContext,
  { callId, runId }: ClaimedCall,
  initial: CallVariables,
  provider: VoiceProvider,
): Promise<DialRequest | null | "lost"> {
  return context.transaction(async (tx) => {
    const call = await tx.find(Call, callId)
    if (!call.line.holds(runId)) return "lost"
    const company = await tx.em.findOneOrFail(Company, { id: call.companyId })
    const subscription = await tx.em.findOne(Subscription, { companyId: call.companyId })
    if (!subscription?.isActiveAt(clock.now()) || company.voiceBalance <= 0) return null
    const caller = call.callerAssistantId ? await tx.em.findOne(Assistant, { id: call.callerAssistantId }) : null
    const assistant = call.assistantId ? await tx.em.findOne(Assistant, { id: call.assistantId }) : null
    if (!assistant || assistant.isTerminating) return null
    call.dynamicVariables = { ...call.dynamicVariables, ...initial, ...systemVariables(call, assistant, caller, company.name) }
    const speaker = (await assistantOfCall(tx, call))!
    const agent = agentOfCall(speaker, provider)
    call.intendToDial(call.dynamicVariables, speaker.unresolved, agent.maxDurationSeconds)
    if (speaker.unresolved.length > 0) tx.request.log.warn({ callId, names: speaker.unresolved }, "placeholders of a call have no value")
    const fromNumber = caller?.vaRegistration?.phoneNumber ?? null
    return { callId, agent, toNumber: call.phoneNumber, fromNumber, ringSeconds: callLimits.ringSeconds }
  })
}

async function ask({ services }: RequestContext, provider: VoiceProvider, request: DialRequest, lease: Lease<Call>): Promise<DialResult> {
  const end = services.metrics.voiceRequests.startTimer({ provider: provider.name, operation: "dial" })
  const result = await provider.dial(request, requestSignal(lease))
  end({ outcome: result.kind })
  return result
}

async function storeResult(tx: RequestContext, call: Call, result: DialResult): Promise<void> {
  const { log } = tx.request
  if (result.kind === "dialed") {
    call.expectWork(call.line, clock.now())
    return dialAccepted(tx, call, result.providerCallId, result.reference)
  }
  log.warn(
    { provider: call.provider, reason: result.reason },
    `the dial of a call is ${result.kind === "refused" ? "refused" : "in doubt"}`,
  )
  if (result.kind === "in_doubt") return call.expectWork(call.line, new Date(clock.now().getTime() + callLimits.pollMs))
  if (result.busy) {
    call.returnToQueue(Math.max(result.retryAfterMs, callLimits.busyProviderMs))
    call.line.dueAt = null
  } else {
    // The agent may be gone: the next update of the assistant sends all of it.
    const assistant = call.assistantId ? await tx.em.findOne(Assistant, { id: call.assistantId }) : null
    assistant?.forgetVoiceSettings()
    await endCall(tx, call, { status: "failed", endedReason: "provider_error", duration: null })
  }
  await giveLines(tx, call.companyId)
}

const cancel = async (lease: Lease<Call>) =>
  void (await lease.store(async (call, tx) => {
    await endCall(tx, call, { status: "failed", endedReason: "cancelled", duration: null })
    await giveLines(tx, call.companyId)
  }))
