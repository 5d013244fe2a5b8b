import type { RequestContext } from "../context/request-context.js"
import type { Database } from "../database/connect.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { StretchEndReason } from "../entities/kit/stretch-words.js"

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
