import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { Member, Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { BadUserInput, Forbidden } from "../errors/errors.js"

/** Throws when the manager is no member of the company. */
export async function mustBeMember(context: RequestContext, companyId: string, userId: string): Promise<void> {
  if (await context.em.findOne(Member, { companyId, userId })) return
  throw new BadUserInput("managerId names no member of this company", [{ path: "managerId", message: "names no member of this company" }])
}

/** Finds the assistant for a chat; locked, so that its concurrent deletion either finds the chat or fails this call. */
export const assistantFor = (context: RequestContext, companyId: string, assistantId: string): Promise<Assistant> =>
  context.referred(Assistant, assistantId, "assistantId", companyId, LockMode.PESSIMISTIC_READ)

/** Throws when the company has no active subscription, which AI requires. */
export async function mustHaveSubscription(context: RequestContext, chat: Chat): Promise<void> {
  const subscription = await context.em.findOne(Subscription, { companyId: chat.companyId })
  if (!subscription?.isActiveAt(clock.now())) throw new Forbidden("Turning AI on requires an active subscription")
}
