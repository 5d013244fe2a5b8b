import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { Member, Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { BadUserInput, Forbidden } from "../errors.js"

/** Refuses a manager who is no member of the company. */
export async function mustBeMember(context: RequestContext, companyId: string, userId: string): Promise<void> {
  if (await context.em.findOne(Member, { companyId, userId })) return
  throw new BadUserInput("managerId names nobody in this company", [{ path: "managerId", message: "names nobody in this company" }])
}

/** The assistant that a chat is to get; locked, so that its deletion either finds the chat or is seen here. */
export const assistantFor = (context: RequestContext, companyId: string, assistantId: string): Promise<Assistant> =>
  context.referred(Assistant, assistantId, "assistantId", companyId, LockMode.PESSIMISTIC_READ)

/** Refuses to turn AI on without a subscription that is active now. */
export async function mustHaveSubscription(context: RequestContext, chat: Chat): Promise<void> {
  const subscription = await context.em.findOne(Subscription, { companyId: chat.companyId })
  if (!subscription?.isActiveAt(clock.now())) throw new Forbidden("Turning AI on needs an active subscription")
}
