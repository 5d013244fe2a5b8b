import { initGraphQLTada } from "gql.tada"
import type { introspection } from "./generated/schema.d.ts"

/** Creates a typed document from the text of an operation. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  // A scalar that is missing here is `unknown`.
  scalars: {
    UUID: string
    DateTime: string
    JSON: unknown
    HexColor: string
    PhoneNumber: string
    URL: string
    Upload: Blob
  }
}>()
