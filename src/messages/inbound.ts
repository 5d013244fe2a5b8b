import { returnToAiIfDue } from "../chats/ai-return.js"
import type { PlainRow } from "../database/read-model.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import { append, type MessageDraft } from "./append.js"

/** Appends a customer message and schedules the reply to it, in one transaction. The chat must be locked. */
export async function appendInbound(
  unit: UnitOfWork,
  chat: Chat,
  draft: Omit<MessageDraft, "chatId" | "role">,
  timing: ReplyTiming,
): Promise<PlainRow> {
  const now = clock.now()
  // AI may be due to be turned on again before the sweep has run; this message must be answered then.
  await returnToAiIfDue(unit, chat, now, timing)
  chat.expectReply(now, timing)
  // Flushed before the statement, which must find the chat even when it is new.
  await unit.flush()
  return append(unit, { ...draft, chatId: chat.id, role: "Customer" })
}
