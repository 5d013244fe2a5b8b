import type { Selection } from "../database/read-model.js"

const selections = new Map<string, Selection>()

/** Declares what the REST representation of a type selects; events of the type carry exactly that. */
export function declareSnapshot(type: string, selection: Selection) {
  selections.set(type, selection)
}

/** What the REST representation of a type selects. */
export function snapshotSelection(type: string): Selection {
  const selection = selections.get(type)
  if (!selection) throw new Error(`No REST representation of ${type} was declared`)
  return selection
}
