import type { Busboy } from "busboy"
import { BadUserInput } from "../errors/errors.js"

type FieldListener = Parameters<Busboy["on"]>[1] & ((name: string, value: string, info: { valueTruncated: boolean }) => void)

/**
 * Checks the `map` of a GraphQL multipart request before the upload library does, which follows any path, inherited names included, and
 * writes to it (`hasOwnProperty.call` is a function of the whole process).
 */
export function checkUploadMap(parser: Busboy) {
  const listeners = parser.listeners("field") as FieldListener[]
  let operations = ""
  const check: FieldListener = (name: string, value: string, info: { valueTruncated: boolean }) => {
    if (name === "operations") operations = value
    if (name === "map" && !info.valueTruncated && !namesNulls(operations, value)) {
      const message = "must name variables of the operation that are null"
      // Otherwise the library would refuse the parts that arrive in the same packet, because they came before the map.
      parser.removeAllListeners("field").removeAllListeners("file")
      return void parser.destroy(new BadUserInput(`map ${message}`, [{ path: "map", message }]))
    }
    for (const listener of listeners) listener.call(parser, name, value, info)
  }
  parser.removeAllListeners("field").on("field", check)
}

/** Whether each path of a map names an own property of the variables that is null. The library refuses invalid JSON and other values. */
function namesNulls(operationsText: string, mapText: string): boolean {
  const [operations, map] = [parsed(operationsText), parsed(mapText)]
  if (operations === undefined || map === undefined || map === null) return true
  const paths = Object.values(map).flat()
  return paths.every((path) => typeof path === "string" && holdsNull(operations, path.split(".")))
}

function holdsNull(operations: unknown, names: string[]): boolean {
  if (names[0] !== "variables" || names.length < 2) return false
  let value = operations
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false
    value = (value as Record<string, unknown>)[name]
  }
  return value === null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
