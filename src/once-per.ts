/** Makes what depends on an object alone once for each object, and forgets it with the object: on a schema, or on MikroORM's metadata. */
export function oncePer<K extends object, T>(make: (object: K) => T): (object: K) => T {
  const made = new WeakMap<K, { value: T }>()
  return (object) => {
    const known = made.get(object) ?? { value: make(object) }
    made.set(object, known)
    return known.value
  }
}
