import type { ExecutionResult } from "graphql"

type Path = readonly (string | number)[]

/** The path of the field that an error made null above its own; null if it made only its own field null. */
function emptiedAbove(data: unknown, path: Path): Path | null {
  let at = data
  for (const [index, key] of path.entries()) {
    if (at === null) return path.slice(0, index)
    at = (at as Record<string | number, unknown>)[key]
  }
  return null
}

/** Messages of internal errors, which clients never see, and in which the executors differ. */
const inOneWording = (message: string) =>
  message
    .replace(/\.\((\w+)(?:,\w+)*\)\.$/, ".$1.")
    .replace(/for field "?([\w.]+)"?\.$/, "for field $1.")
    .replace(/^Error getting (\w*Raw)$/, 'Unexpected error value: "Error getting $1"')

/**
 * A result for comparison: its data as text, with the order of names; its errors without order, those that made a parent null as one
 * per path, since the number of further errors below it differs between executors.
 */
export function comparable({ data, errors = [] }: ExecutionResult) {
  const shown = errors.map(({ message, path, locations, extensions }) => {
    const place = data === undefined || !path ? null : emptiedAbove(data, path)
    return JSON.stringify(place ? { emptied: place } : { message: inOneWording(message), path, locations, extensions })
  })
  return { data: JSON.stringify(data), errors: [...new Set(shown)].sort() }
}
