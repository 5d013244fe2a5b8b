import { LockMode } from "@mikro-orm/postgresql"
import { systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { Chat } from "../entities/chat.js"
import { Subscription } from "../entities/company.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import { archiveMessages } from "../entities/message.js"

const system: Actor = { kind: "system", id: null }

/** Turns AI on again in a chat that has been inactive for long enough; does nothing while the chat is locked. */
export async function returnToAi(services: Services, companyId: string, chatId: string): Promise<void> {
  await systemContext(services, companyId).transaction(async (tx) => {
    // The transaction that holds the lock either ends the inactivity or turns AI on itself.
    const chat = await tx.unit.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE })
    if (!chat) return
    chat.watchForReturn()
    await returnToAiIfDue(tx.unit, chat, clock.now(), services.config)
  })
}

/** Turns AI on again in a locked chat if that is due: in the sweep, or before a customer message is appended. */
export async function returnToAiIfDue(unit: UnitOfWork, chat: Chat, now: Date, timing: ReplyTiming): Promise<void> {
  if (!chat.isReturnDue(now, timing)) return
  const subscription = await unit.em.findOne(Subscription, { companyId: chat.companyId })
  if (!subscription?.isActiveAt(now)) return
  chat.returnToAi(await archiveMessages(unit.em, chat.id, new Date(now.getTime() - timing.contextWindowMs)), system)
}
