import type { PlainRow, PlannedRow } from "./read-model.js"
import type { EntityName } from "./tables.js"

/** A row as it was at commit, with its type. */
export type Snapshot = { [N in EntityName]: { type: N; row: PlannedRow<N> } }[EntityName]

/** A snapshot as a column of JSON holds it: `{ message: … }` for a row of type Message. */
export const storedSnapshot = (type: string, row: PlainRow | null) => ({ [fieldOf(type)]: row })

/** The snapshot in such a column; null when it holds something else, or the row was gone at commit. */
export function readSnapshot(stored: object): Snapshot | null {
  const [field, row] = Object.entries(stored)[0] ?? []
  if (!field || field === "value" || !row) return null
  return { type: field[0]!.toUpperCase() + field.slice(1), row } as Snapshot
}

/** The field that holds a row of a type, in stored snapshots and on GraphQL's events. */
export const fieldOf = (type: string) => type[0]!.toLowerCase() + type.slice(1)
