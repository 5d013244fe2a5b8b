import { initGraphQLTada } from "gql.tada"
import type { introspection } from "./schema.generated.js"

/** Creates a typed document; `npm run check` compares it with `schema.graphql`. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  // Fragments are read where they are selected: the components are few.
  disableMasking: true
  scalars: { UUID: string; DateTime: string; JSON: unknown; HexColor: string; PhoneNumber: string; URL: string }
}>()
