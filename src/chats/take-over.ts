import type { RequestContext } from "../context/request-context.js"
import type { Chat } from "../entities/chat.js"
import { needsAttention } from "../entities/kit/chat-words.js"
import { BadUserInput, Conflict } from "../errors/errors.js"
import { patch } from "../schema/kit/input.js"
import { mustBeMember } from "./checks.js"

/** Turns AI off and assigns a manager, unless another person has taken the chat. The chat must be locked. */
export async function takeOver(context: RequestContext, chat: Chat, managerId: string | null): Promise<Chat> {
  if (!managerId)
    throw new BadUserInput("managerId is required with an access token", [
      { path: "managerId", message: "is required with an access token" },
    ])
  await mustBeMember(context, chat.companyId, managerId)
  // The assistant may have passed on a chat whose manager is away.
  const isFree = chat.isUnderAiControl || needsAttention(chat)
  if (!isFree && chat.managerId && chat.managerId !== managerId) throw new Conflict("Another person has taken this chat")
  chat.turnAiOff("manual", context.actor)
  patch(context, chat, { managerId }).changed()
  return chat
}
