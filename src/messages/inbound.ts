import { comeBackIfDue } from "../chats/return.js"
import type { PlainRow } from "../database/read-model.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { ReplyTiming } from "../entities/kit/reply-timing.js"
import { append, type MessageDraft } from "./append.js"

/** Appends a customer's message and expects the reply to it, in one unit. The chat must be locked. */
export async function appendInbound(
  unit: UnitOfWork,
  chat: Chat,
  draft: Omit<MessageDraft, "chatId" | "role">,
  timing: ReplyTiming,
): Promise<PlainRow> {
  const now = clock.now()
  // The chat was quiet for long enough to return to its assistant, but no sweep has run since: this message must not wait for another quiet period.
  await comeBackIfDue(unit, chat, now, timing)
  chat.expectReply(now, timing)
  // The chat is flushed before the statement, which must find it even when it is new.
  await unit.flush()
  return append(unit, { ...draft, chatId: chat.id, role: "Customer" })
}
