import { endStretchOf } from "../chats/stretch.js"
import type { RequestContext } from "../context/request-context.js"
import type { PlannedRow, Selection } from "../database/read-model.js"
import { Chat } from "../entities/chat.js"
import { NotFound } from "../errors/errors.js"
import { stretchReadModel } from "../schema/stretch.js"
import { askForRating } from "./rating.js"

/** Ends the open stretch of a chat; returns the chat's last stretch, which a repeated request finds ended. */
export async function endStretch(context: RequestContext, chatId: string, selection: Selection): Promise<PlannedRow<"Stretch">> {
  const chat = await context.find(Chat, chatId)
  await endStretchOf(context, chat, "PERSON")
  await askForRating(context, chat)
  const [last] = await context.reader.list(stretchReadModel, selection, (query) =>
    query.where("t.chat_id", "=", chat.id).orderBy("t.started_at", "desc").limit(1),
  )
  if (!last) throw new NotFound("Stretch")
  return last
}
