import type { PlannedRow } from "../database/read-model.js"
import type { Columns } from "../database/tables.js"
import type { EventType } from "../entities/event.js"
import { BadUserInput } from "../errors.js"

/** Makes the REST representation of a row. */
export type Representer = (type: "Message" | "Chat", row: PlannedRow<"Message"> | PlannedRow<"Chat">) => unknown

/** An event as readers of the log see it. */
export interface LoggedEvent {
  position: bigint
  /** Opaque resume cursor. */
  id: string
  type: EventType
  companyId: string
  chatId: string | null
  createdAt: string
  /** As REST shows the resource at commit; made once, when the first subscriber asks. */
  readonly payload: unknown
  message: PlannedRow<"Message"> | null
  chat: PlannedRow<"Chat"> | null
}

/** Reads an event from its row. */
export function loggedEvent(row: Columns<"Event">, represent: Representer): LoggedEvent {
  const stored = row.payload as { value?: unknown; message?: PlannedRow<"Message">; chat?: PlannedRow<"Chat"> }
  let payload: unknown
  return {
    position: BigInt(row.position!),
    id: eventCursor(row.position!),
    type: row.type,
    companyId: row.company_id,
    chatId: row.chat_id,
    createdAt: row.created_at,
    message: stored.message ?? null,
    chat: stored.chat ?? null,
    get payload() {
      payload ??= stored.message ? represent("Message", stored.message) : stored.chat ? represent("Chat", stored.chat) : stored.value
      return payload
    },
  }
}

/** The resume cursor that continues behind a position. */
export const eventCursor = (position: string) => Buffer.from(`e:${position}`).toString("base64url")

/** The position behind a resume cursor; a malformed one is a bad input. */
export function readEventCursor(cursor: string): bigint {
  const text = Buffer.from(cursor, "base64url").toString("utf8")
  if (!/^e:\d{1,18}$/.test(text))
    throw new BadUserInput("after is not a cursor of the event log", [{ path: "after", message: "is not a cursor of the event log" }])
  return BigInt(text.slice(2))
}
