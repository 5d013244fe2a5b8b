import { LockMode } from "@mikro-orm/postgresql"
import type { UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { ChatTag, ChatTagging } from "../entities/chat-tag.js"

/** Attaches existing tags to a chat by name and returns the names of all its tags. An unknown name is ignored. */
export async function tagChat(unit: UnitOfWork, chat: Chat, names: string[]): Promise<string[]> {
  const { companyId, id: chatId } = chat
  // A shared lock, so that no tag is deleted before this commits.
  const named = { companyId, name: { $in: names } }
  const tags = await unit.em.find(ChatTag, named, { orderBy: { name: "asc" }, lockMode: LockMode.PESSIMISTIC_READ })
  const carried = await unit.em.find(ChatTagging, { companyId, chatId })
  const missing = tags.filter(({ id }) => !carried.some(({ tagId }) => tagId === id))
  for (const { id: tagId } of missing) unit.em.persist(Object.assign(new ChatTagging(), { chatId, tagId, companyId }))
  if (missing.length > 0) chat.changed()
  return tags.map(({ name }) => name)
}
