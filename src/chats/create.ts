import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import type { CreateChatInput } from "../schema/chat.js"
import { patch } from "../schema/kit/input.js"
import { assistantFor, mustBeMember } from "./checks.js"

/** Creates a chat with its manager and its assistant; nothing is sent to the customer. */
export async function createChat(context: RequestContext, input: CreateChatInput): Promise<Chat> {
  const { assistantId, managerId, idempotencyKey: _key, ...fields } = input
  const chat = patch(context, new Chat(), { ...fields, companyId: context.company(input.companyId) })
  if (managerId) {
    await mustBeMember(context, chat.companyId, managerId)
    chat.managerId = managerId
  }
  if (assistantId) chat.beginWith(await assistantFor(context, chat.companyId, assistantId))
  context.em.persist(chat.opened())
  return chat
}
