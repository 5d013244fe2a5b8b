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
  /** Values in the response of one GraphQL operation, counted by the sizes of its lists; each alias counts; ours. */
  graphqlValues: 1_000_000,
  /** Items that a list without paging counts in the cost of an operation; ours. */
  graphqlPlainListSize: 10,
  /** Cached costs per document (one for each set of page sizes), and the maximum length of a cache key; ours. */
  costsKept: 20,
  costKeyLength: 200,
  /** Bytes of the heap that the prepared operations of clients may take, and one of them; a larger one is prepared for each request; ours. */
  preparedBytes: 16_000_000,
  preparedOperationBytes: 5_000_000,
  /** Bytes that a parsed operation takes, besides each character of its text (measured by `process.memoryUsage()`, as the next two); ours. */
  parsedBytes: 6_000,
  parsedCharacterBytes: 70,
  /** Bytes that the code of a compiled operation that has run takes, besides each of its fields; ours. */
  compiledBytes: 15_000,
  compiledFieldBytes: 4_000,
  /** Largest number of fields, fragments expanded, of an operation that is compiled: each takes 0.025 ms, in which nothing else runs; ours. */
  compiledFields: 1_000,
  /** Runs of a client's operation before it is compiled; ours. */
  interpretedRuns: 2,
  /** Accept headers whose response type is cached; ours. */
  knownTypes: 100,
} as const
