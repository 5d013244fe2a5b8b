import type { GraphQLSchema } from "graphql"

/** Makes what depends on a schema alone once for each schema: the servers of a process have the same one. */
export function oncePerSchema<T>(make: (schema: GraphQLSchema) => T): (schema: GraphQLSchema) => T {
  const made = new WeakMap<GraphQLSchema, { value: T }>()
  return (schema) => {
    const known = made.get(schema) ?? { value: make(schema) }
    made.set(schema, known)
    return known.value
  }
}
