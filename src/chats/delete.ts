import { forgetAnswers } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Media } from "../entities/media.js"
import { type DeleteResult, deleted } from "../schema/kit/input.js"
import { forgetEvents } from "./forget.js"
import { endStretchOf } from "./stretch.js"

/** Deletes a chat with everything that it holds, also while a turn runs in it; `before` is called with the locked chat, in the transaction. */
export async function deleteChat(
  context: RequestContext,
  id: string,
  before?: (tx: RequestContext, chat: Chat) => Promise<void>,
): Promise<DeleteResult> {
  const result = await context.transaction(async (tx) => {
    const chat = await tx.find(Chat, id)
    await before?.(tx, chat)
    await forgetAnswers(tx, [chat.id])
    // Before the database takes the chat from its stretches.
    await endStretchOf(tx, chat, "CHAT_DELETED")
    // What its visitor uploaded and never sent.
    await tx.em.nativeUpdate(
      Media,
      { companyId: chat.companyId, visitorChatId: chat.id, forgetAt: { $ne: null } },
      { forgetAt: clock.now() },
    )
    return deleted(tx, chat.deleted())
  })
  // Its visitor's token has ended, and so must the open sockets.
  await context.services.wakeUp.publish("credentials", result.id)
  await forgetEvents(context, result.id)
  return result
}
