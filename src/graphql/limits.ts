/** Limits that graphql/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const graphqlLimits = {
  /** Levels of nesting in one GraphQL document, without introspection. */
  graphqlDepth: 12,
  /** Levels of nested brackets in one GraphQL document, of inline fragments and literals too; ours. */
  graphqlNesting: 200,
  /** Root fields in one GraphQL operation; each alias counts. */
  graphqlRootFields: 30,
  /** Cost of one GraphQL operation, counted by the sizes of its lists. */
  graphqlCost: 20_000,
  /** Items that a list without paging counts in the cost of an operation; ours. */
  graphqlPlainListSize: 10,
  /** Cached costs per document (one for each set of page sizes), and the maximum length of a cache key; ours. */
  costsKept: 100,
  costKeyLength: 200,
  /** Prepared operations in the cache: each may take some 150 KB, most of it compiled code, and strangers can fill the cache; ours. */
  preparedOperations: 500,
  /** Total length of their texts in characters, each of which takes some 100 bytes when parsed; ours. */
  preparedOperationsLength: 500_000,
  /** Largest number of fields, fragments expanded, of an operation that is compiled; ours. */
  compiledFields: 2_000,
  /** Runs of a client's operation before it is compiled; ours. */
  interpretedRuns: 2,
  /** Accept headers whose response type is cached; ours. */
  knownTypes: 100,
} as const
