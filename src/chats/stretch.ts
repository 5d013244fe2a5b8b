import type { RequestContext } from "../context/request-context.js"
import type { Database } from "../database/connect.js"
import type { PlannedRow, Selection } from "../database/read-model.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { StretchEndReason } from "../entities/kit/stretch-words.js"
import { NotFound } from "../errors.js"
import { stretchReadModel } from "../schema/stretch.js"
import { askForRating } from "./rating.js"

/** Stores the quiet hours for the triggers that write the facts of stretches; the instance that starts last decides. */
export async function setQuietHours(database: Database, hours: number): Promise<void> {
  const text = "update stretch_setting set quiet_hours = $1 where quiet_hours <> $1"
  await unscoped(database, { name: "set-quiet-hours", text }, [hours])
}

const end: Statement = { name: "end-stretch", text: "select end_stretch($1, $2, $3)" }

/** Ends the open stretch of a locked chat: now, or earlier where it has become quiet. */
export async function endStretchOf(context: RequestContext, chat: Chat, why: StretchEndReason): Promise<void> {
  await context.run(end, [chat.id, clock.now(), why])
  context.unit.wroteEvents()
}

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
