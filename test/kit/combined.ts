/** Every combination of one value of each property. */
export function combined<T extends object>(values: { [Key in keyof T]: readonly T[Key][] }): T[] {
  const entries = Object.entries(values) as [keyof T, readonly T[keyof T][]][]
  return entries.reduce((all, [key, each]) => all.flatMap((one) => each.map((value) => ({ ...one, [key]: value }))), [{} as T])
}
