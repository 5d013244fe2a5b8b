import type { ExecutionResult } from "graphql"

type Path = readonly (string | number)[]

/** Where an error emptied the data above it; null where it emptied its own field alone. */
function emptiedAbove(data: unknown, path: Path): Path | null {
  let at = data
  for (const [index, key] of path.entries()) {
    if (at === null) return path.slice(0, index)
    at = (at as Record<string | number, unknown>)[key]
  }
  return null
}

/** What the compiler says otherwise of faults that no client is told the words of. */
const inOneWording = (message: string) =>
  message
    .replace(/\.\((\w+)(?:,\w+)*\)\.$/, ".$1.")
    .replace(/for field "?([\w.]+)"?\.$/, "for field $1.")
    .replace(/^Error getting (\w*Raw)$/, 'Unexpected error value: "Error getting $1"')

/**
 * An answer as it is compared: the text of its data, names in their order; its errors in no order, those that emptied what is above them as one
 * per place, since how many more of them are found before the end is each executor's own matter.
 */
export function comparable({ data, errors = [] }: ExecutionResult) {
  const shown = errors.map(({ message, path, locations, extensions }) => {
    const place = data === undefined || !path ? null : emptiedAbove(data, path)
    return JSON.stringify(place ? { emptied: place } : { message: inOneWording(message), path, locations, extensions })
  })
  return { data: JSON.stringify(data), errors: [...new Set(shown)].sort() }
}
