import { LockMode } from "@mikro-orm/postgresql"
import { type Lease, LeaseLost } from "../context/lease.js"
import { Call } from "../entities/call.js"
import { ModelFailure } from "../ports/text-model.js"
import type { CallFacts, VoiceProvider } from "../ports/voice.js"
import { agentOfCall } from "./agent.js"
import { assistantOfCall, CallConversation } from "./conversation.js"
import { type ClaimedCall, storeFacts } from "./facts.js"

/** Plays a call whose conversation this server leads, from what was said before to its end. */
export async function playCall(lease: Lease<Call>, claimed: ClaimedCall, provider: VoiceProvider): Promise<void> {
  const facts = await play(lease, claimed, provider)
  await lease.store((call, tx) => storeFacts(tx, call, facts))
}

async function play(lease: Lease<Call>, claimed: ClaimedCall, provider: VoiceProvider): Promise<CallFacts> {
  const { context, signal } = lease
  const { callId, runId, providerCallId } = claimed
  const read = await context.transaction(async (tx) => {
    const speaker = await assistantOfCall(tx, await tx.find(Call, callId))
    return speaker && { speaker, agent: agentOfCall(speaker, provider) }
  })
  // The assistant was deleted while no worker had the call.
  if (!read) return failed(claimed)
  const { speaker, agent } = read
  const conversation = new CallConversation(context, callId, runId, speaker, claimed.conversation, signal)
  const host = {
    variables: claimed.variables,
    toNumber: claimed.phoneNumber,
    firstMessage: agent.firstMessage,
    silenceTimeoutSeconds: agent.silenceTimeoutSeconds,
    maxDurationSeconds: agent.maxDurationSeconds,
    said: conversation.said,
    answered: () => answered(lease, claimed),
    say: (role: "agent" | "customer", text: string) => conversation.say(role, text),
    answer: () => conversation.answer(),
  }
  try {
    return await provider.play!({ callId, providerCallId }, host, signal)
  } catch (error) {
    if (!(error instanceof ModelFailure) || signal.aborted) throw error
    context.request.log.warn({ model: speaker.model.name, reason: error.message }, "the model gave no answer on a call")
    return failed(claimed)
  }
}

/** The report of a call that broke off. */
const failed = ({ callId, providerCallId }: ClaimedCall): CallFacts => ({
  callId,
  providerCallId,
  reference: null,
  state: "ended",
  ending: { failure: "unknown", sipStatus: null, reason: null, isError: true },
  durationSeconds: null,
  replies: [],
})

/** Records that the customer has answered, while the call is held. */
async function answered({ context }: Lease<Call>, { callId, runId }: ClaimedCall): Promise<void> {
  const isHeld = await context.transaction(async (tx) => {
    const call = await tx.em.findOne(Call, { id: callId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!call?.line.holds(runId)) return false
    call.answered()
    return true
  })
  if (!isHeld) throw new LeaseLost()
}
