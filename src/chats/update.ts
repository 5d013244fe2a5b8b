import type { RequestContext } from "../context/request-context.js"
import type { Chat } from "../entities/chat.js"
import type { UpdateChatInput } from "../schema/chat.js"
import { patch } from "../schema/kit/input.js"
import { assistantFor, mustBeMember } from "./checks.js"

/** Changes a chat without the checks of setAiControl and assignAssistant. The chat must be locked. */
export async function updateChat(context: RequestContext, chat: Chat, input: UpdateChatInput): Promise<Chat> {
  const { assistantId, isUnderAiControl, ...fields } = input
  if (fields.managerId) await mustBeMember(context, chat.companyId, fields.managerId)
  if (assistantId) (await assistantFor(context, chat.companyId, assistantId)).refuseWhileDeleted()
  patch(context, chat, fields).changed()
  if (assistantId !== undefined) chat.setAssistant(assistantId)
  if (isUnderAiControl === true) chat.setAi(true, null, context.actor)
  if (isUnderAiControl === false) chat.turnAiOff("manual", context.actor)
  return chat
}
