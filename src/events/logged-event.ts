import type { PlainRow } from "../database/read-model.js"
import { readSnapshot, type Snapshot } from "../database/snapshot.js"
import type { Columns } from "../database/tables.js"
import type { EventType } from "../entities/event.js"
import { BadUserInput } from "../errors/errors.js"

/** Returns the REST representation of a row. */
export type Representer = (type: string, row: PlainRow) => unknown

/** An event that is shown with a selection on the type Event. */
export interface SelectedEvent {
  id: string
  type: EventType
  createdAt: string
  chatId: string | null
  payload: unknown
  /** What the log stores of it. */
  stored: object
}

/** Selections on the type Event, which endpoints for events bring. */
export interface EventSelections {
  /** Returns the selection as it is stored, and keeps it prepared for `owner` (`cacheOwnerOf`); throws BadUserInput when events cannot be shown with it. */
  check(query: string, owner: string): string
  /** Shows an event as it was at commit by a selection of the company. */
  select(query: string, companyId: string, event: SelectedEvent): unknown
}

/** An event of the log, as subscribers receive it. */
export interface LoggedEvent {
  position: bigint
  /** Opaque resume cursor. */
  id: string
  type: EventType
  companyId: string
  chatId: string | null
  createdAt: string
  /** REST representation of the resource at commit; computed once, on first access. */
  readonly payload: unknown
  /** The row of the event as it was at commit; null when the payload is not a row. */
  snapshot: Snapshot | null
}

/** Converts a row of the log to an event. */
export function loggedEvent(row: Columns<"Event">, represent: Representer): LoggedEvent {
  const stored = row.payload as object
  const snapshot = readSnapshot(stored)
  let payload: unknown
  return {
    position: BigInt(row.position!),
    id: eventCursor(row.position!),
    type: row.type,
    companyId: row.company_id,
    chatId: row.chat_id,
    createdAt: row.created_at,
    snapshot,
    get payload() {
      payload ??= payloadOf(stored, represent)
      return payload
    },
  }
}

/** The payload of an event, from what the log stores. */
export function payloadOf(stored: object, represent: Representer): unknown {
  const snapshot = readSnapshot(stored)
  return snapshot ? represent(snapshot.type, snapshot.row) : (stored as { value?: unknown }).value
}

/** The resume cursor that continues after a position. */
export const eventCursor = (position: string) => Buffer.from(`e:${position}`).toString("base64url")

/** The position of a resume cursor; throws BadUserInput, which names the parameter, for a malformed one. */
export function readEventCursor(cursor: string, name = "after"): bigint {
  const text = Buffer.from(cursor, "base64url").toString("utf8")
  if (!/^e:\d{1,18}$/.test(text))
    throw new BadUserInput(`${name} is not a cursor of the event log`, [{ path: name, message: "is not a cursor of the event log" }])
  return BigInt(text.slice(2))
}
