import type { PlainRow, PlannedRow } from "./read-model.js"
import type { EntityName } from "./tables.js"

/** A row as it was at commit, with its type. */
export type Snapshot = { [N in EntityName]: { type: N; row: PlannedRow<N> } }[EntityName]

/** The JSON value of a snapshot: `{ message: … }` for a row of type Message. */
export const storedSnapshot = (type: string, row: PlainRow | null) => ({ [fieldOf(type)]: row })

/** Parses a stored snapshot; null when the value is no snapshot, or the row did not exist at commit. */
export function readSnapshot(stored: object): Snapshot | null {
  const [field, row] = Object.entries(stored)[0] ?? []
  if (!field || field === "value" || !row) return null
  return { type: field[0]!.toUpperCase() + field.slice(1), row } as Snapshot
}

/** The field for a row of a type, in stored snapshots and in the GraphQL type Event. */
export const fieldOf = (type: string) => type[0]!.toLowerCase() + type.slice(1)
