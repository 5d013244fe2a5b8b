/** Every number of the specification and of the contract that graphql/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const graphqlLimits = {
  /** Levels of nesting in one GraphQL document, introspection apart. */
  graphqlDepth: 12,
  /** Root fields in one GraphQL operation, aliases counted each. */
  graphqlRootFields: 30,
  /** Cost of one GraphQL operation, counted by the sizes of its lists. */
  graphqlCost: 20_000,
  /** Items that a list without paging is reckoned to have, in the cost of an operation; ours. */
  graphqlPlainListSize: 10,
  /** Sets of page sizes of a document whose cost is remembered, and how long one may be as text; ours. */
  costsKept: 100,
  costKeyLength: 200,
  /** Operations that stay prepared, and the length of their texts together in characters; ours. */
  preparedOperations: 1_000,
  preparedOperationsLength: 10_000_000,
  /** Fields of an operation, fragments expanded, that are still compiled; ours. */
  compiledFields: 2_000,
  /** Accept headers whose answer's type is remembered; ours. */
  knownTypes: 100,
} as const
