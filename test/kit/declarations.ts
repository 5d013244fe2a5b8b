/** The declarations of type-graphql's decorators in this process. */
interface Storage {
  objectTypes: { fields?: unknown[] }[]
  clearMapCaches(): void
}

/**
 * Lets a file declare resolvers, types and routes: they are removed after its tests, since the files of a worker share
 * their modules. Call it before the first decorator of the file runs.
 * @param lists arrays that the file appends to
 */
export function undoDeclarations(...lists: unknown[][]) {
  const storage = (globalThis as unknown as { TypeGraphQLMetadataStorage: Storage }).TypeGraphQLMetadataStorage
  const declared = Object.entries(storage).flatMap(([name, value]) => (Array.isArray(value) ? [[name, [...value]] as const] : []))
  const fields = storage.objectTypes.map((type) => [type, type.fields && [...type.fields]] as const)
  const lengths = lists.map((list) => [list, list.length] as const)
  afterAll(() => {
    Object.assign(storage, Object.fromEntries(declared))
    for (const [type, own] of fields) type.fields = own
    storage.clearMapCaches()
    for (const [list, length] of lengths) list.length = length
  })
}
