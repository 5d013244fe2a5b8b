import type { GraphQLSchema } from "graphql"
import { getMetadataStorage } from "type-graphql"

/**
 * Sorts the arguments of all fields by their declaration, because parameter decorators run from the last to the first, and describes each
 * argument `input` with the description of its type. Must run before type-graphql builds the schema.
 */
export function documentArguments() {
  const { params, inputTypes } = getMetadataStorage()
  params.sort((a, b) => a.index - b.index)
  for (const param of params) {
    if (param.kind !== "arg" || param.name !== "input") continue
    param.description ??= inputTypes.find(({ target }) => target === param.getType())?.description
  }
}

/** Describes the root types, for which type-graphql has no decorator. */
export function describeRootTypes(schema: GraphQLSchema) {
  schema.getQueryType()!.description = "Reads. Every field requires credentials and covers only the companies that they can access."
  schema.getMutationType()!.description = "Changes. The fields of one request run one after the other, and each is committed on its own."
  schema.getSubscriptionType()!.description = "Live updates over a WebSocket, with the protocol graphql-transport-ws."
}
