import type { AnyVariables, Client, CombinedError, OperationResult, TypedDocumentNode } from "urql"

/** A page of a list, as the server answers it. */
interface Connection<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/** A list as far as it was read. */
export interface PagesState<Node> {
  readonly nodes: readonly Node[]
  readonly isLoading: boolean
  readonly hasMore: boolean
  readonly error: CombinedError | undefined
}

interface Page<Node> {
  connection: Connection<Node> | null
  error: CombinedError | undefined
  stop(): void
}

/** What a list is read by. */
export interface ListSource<Data, Variables, Node> {
  document: TypedDocumentNode<Data, Variables>
  variables: Variables
  connection(data: Data): Connection<Node>
}

/**
 * A list that is read page by page. Each page is a query of its own in the cache, so a change costs what its page costs, not what the list does.
 */
export class PagedList<Data, Variables extends AnyVariables, Node extends { id: string }> {
  #pages: Page<Node>[] = []
  #listeners = new Set<() => void>()
  #state: PagesState<Node> = { nodes: [], isLoading: true, hasMore: false, error: undefined }

  constructor(
    readonly client: Client,
    readonly source: ListSource<Data, Variables, Node>,
  ) {}

  /** Calls `listener` at each change; the first listener starts the list, the last one ends it. Returns how to stop. */
  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#read(null)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#drop()
    }
  }

  readonly state = (): PagesState<Node> => this.#state

  /** Reads the next page, or again the one that failed. */
  readonly more = (): void => {
    const last = this.#pages.at(-1)
    if (last?.error) {
      this.#pages.pop()
      last.stop()
      this.#read(this.#pages.at(-1)?.connection?.pageInfo.endCursor ?? null)
    } else if (last?.connection?.pageInfo.hasNextPage) this.#read(last.connection.pageInfo.endCursor)
  }

  #drop() {
    for (const page of this.#pages.splice(0)) page.stop()
  }

  /** Reads a page, from the server too when the cache has it: what happened while its company was not followed is not in the cache. */
  #read(after: string | null) {
    const page: Page<Node> = { connection: null, error: undefined, stop: () => {} }
    this.#pages.push(page)
    this.#changed()
    const { document, variables, connection } = this.source
    const source = this.client.query(document, after === null ? variables : { ...variables, after }, {
      requestPolicy: "cache-and-network",
    })
    const { unsubscribe } = source.subscribe((result: OperationResult<Data, Variables>) => {
      if (!this.#pages.includes(page)) return
      page.error = result.error
      if (result.data && !result.error) page.connection = connection(result.data)
      this.#changed()
    })
    page.stop = unsubscribe
  }

  #changed() {
    const last = this.#pages.at(-1)
    this.#state = {
      nodes: this.#nodes(),
      isLoading: !last?.error && last?.connection === null,
      hasMore: last?.connection?.pageInfo.hasNextPage ?? false,
      error: last?.error,
    }
    for (const listener of this.#listeners) listener()
  }

  /** The nodes of all pages, each once: one that moved to the beginning is also on the page where it was. */
  #nodes(): Node[] {
    const seen = new Set<string>()
    const nodes: Node[] = []
    for (const { connection } of this.#pages)
      for (const node of connection?.nodes ?? []) {
        if (seen.has(node.id)) continue
        seen.add(node.id)
        nodes.push(node)
      }
    return nodes
  }
}
