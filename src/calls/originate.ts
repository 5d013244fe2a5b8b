import { LockMode } from "@mikro-orm/postgresql"
import { completed, idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Selection } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import type { CallVariables } from "../entities/call-row.js"
import { Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { User } from "../entities/user.js"
import { BadUserInput, Forbidden, NotFound } from "../errors/errors.js"
import { callReadModel, type OriginateCallInput } from "../schema/call.js"
import { giveLines } from "./lines.js"
import { lockLines } from "./statements.js"
import { readVariables } from "./variables.js"

/** Accepts a call and returns it as the operation selects it; it gets a line at once when one is free. */
export async function originateCall(context: RequestContext, assistantId: string, input: OriginateCallInput, selection: Selection) {
  const variables = readVariables(input.dynamicVariables)
  return context.transaction(async (tx) => {
    const assistants = await lockAssistants(tx, [assistantId, input.callerAssistantId ?? assistantId])
    const assistant = assistants.get(assistantId)
    if (!assistant) throw new NotFound("Assistant")
    const caller = assistants.get(input.callerAssistantId ?? assistantId)
    if (caller?.companyId !== assistant.companyId) throw notOfCompany()
    const request = { assistantId, ...input }
    const result = await idempotent(tx, tx.unit, "Call", request, () => accept(tx, assistant, caller, input, variables))
    if (!(result instanceof Call)) return completed(tx, "Call", result, selection)
    await giveLines(tx, assistant.companyId)
    return tx.reader.byId(callReadModel, result.id, selection)
  })
}

/** Locks assistants in the order of their IDs, so that two requests cannot wait for each other. */
async function lockAssistants(tx: RequestContext, ids: string[]): Promise<Map<string, Assistant>> {
  const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const
  return new Map((await tx.em.find(Assistant, { id: { $in: ids } }, options)).map((assistant) => [assistant.id, assistant]))
}

const notOfCompany = () => {
  const message = "does not exist in this company"
  return new BadUserInput(`callerAssistantId ${message}`, [{ path: "callerAssistantId", message }])
}

async function accept(
  tx: RequestContext,
  assistant: Assistant,
  caller: Assistant,
  input: OriginateCallInput,
  variables: CallVariables,
): Promise<Call> {
  const { companyId } = assistant
  assistant.refuseWhileDeleted()
  caller.refuseWhileDeleted()
  // The calls of a company are accepted one after the other: their dates are their order.
  const company = await lockLines(tx, companyId)
  const subscription = await tx.em.findOne(Subscription, { companyId })
  if (!subscription?.isActiveAt(clock.now())) throw new Forbidden("Starting a call requires an active subscription")
  if (company.voiceBalance <= 0) throw new BadUserInput("The company has no voice balance left")
  const call = Object.assign(new Call(), {
    companyId,
    assistantId: assistant.id,
    callerAssistantId: caller.id,
    phoneNumber: input.phoneNumber,
    employeeName: await employeeName(tx),
    source: tx.userId ? "dashboard" : "api",
    provider: providerNameOf(tx.services, caller),
  })
  call.dynamicVariables = { ...variables, ...systemVariables(call, assistant, caller, company.name) }
  tx.em.persist(call)
  const provider = tx.services.voices.find(({ name }) => name === call.provider)
  if (provider?.capabilities.agents) assistant.wantAgentOnDemand(provider.name)
  return call
}

/** The user's name; null for an access token. */
async function employeeName(tx: RequestContext): Promise<string | null> {
  if (!tx.userId) return null
  return (await tx.em.findOneOrFail(User, { id: tx.userId })).name
}

/** The provider of an assistant's calls; without voice settings the deployment's default, the first. */
const providerNameOf = ({ voices }: Pick<Services, "voices">, caller: Assistant) => caller.vaRegistration?.provider ?? voices[0]!.name

/** The variables that every call has; they take precedence over all others. */
export const systemVariables = (call: Call, assistant: Assistant, caller: Assistant | null, companyName: string): CallVariables => ({
  phone_number: call.phoneNumber,
  call_id: call.id,
  assistant_id: assistant.id,
  assistant_name: assistant.name,
  company_name: companyName,
  agent_number: caller?.vaRegistration?.phoneNumber ?? null,
  now: clock.now().toISOString(),
})
