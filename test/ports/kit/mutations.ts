import fc from "fast-check"

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Values that parsers stumble over. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, "", [], {}, [[]], [null], -1, 1e300, true, "\u0000", { toString: 1, valueOf: 1 }, { length: 9 }),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Copies of a JSON value in which one to three values were replaced or removed. */
export function mutationsOf(original: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(original as Json)
  const change = fc.record({ path: fc.constantFrom(...paths), value: odd, isRemoved: fc.boolean() })
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const root = { value: structuredClone(original) }
    for (const { path, value, isRemoved } of changes) mutate(root, ["value", ...path], value, isRemoved)
    return root.value
  })
}

function pathsOf(value: Json, path: string[] = []): string[][] {
  const inner =
    typeof value === "object" && value !== null ? Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key])) : []
  return [path, ...inner]
}

/** Does nothing below a value that another mutation has replaced. */
function mutate(root: unknown, path: string[], value: unknown, isRemoved: boolean) {
  const parent = path.slice(0, -1).reduce((at: unknown, key) => (at as Record<string, unknown> | null | undefined)?.[key], root)
  if (typeof parent !== "object" || parent === null) return
  const key = path.at(-1)!
  if (isRemoved && Array.isArray(parent)) parent.splice(Number(key), 1)
  else if (isRemoved) delete (parent as Record<string, unknown>)[key]
  else (parent as Record<string, unknown>)[key] = value
}
