import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import { type AnyVariables, Provider, type TypedDocumentNode, useClient } from "urql"
import { openClient } from "./client.js"
import { inboxLimits } from "./limits.js"
import { type ListSource, PagedList, type PagesState } from "./paged-list.js"

const ConnectionContext = createContext(true)

/** Whether the socket is connected. */
export const useConnected = () => useContext(ConnectionContext)

/** Gives its views a GraphQL client, and a new one, with an empty cache, when the server cannot tell what happened meanwhile. */
export function LiveClient({ children }: { children: ReactNode }) {
  const [generation, setGeneration] = useState(0)
  const [isConnected, setConnected] = useState(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new generation needs a new client.
  const { client, close } = useMemo(
    () => openClient({ connected: setConnected, resync: () => setGeneration((before) => before + 1) }),
    [generation],
  )
  useEffect(() => close, [close])
  return (
    <Provider value={client} key={generation}>
      <ConnectionContext.Provider value={isConnected}>{children}</ConnectionContext.Provider>
    </Provider>
  )
}

/** Follows a subscription; one that the server ends, as when a token expires, begins again. `variables` null follows none. */
export function useFollowed<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  next: (data: Data) => void,
) {
  const client = useClient()
  const latest = useRef(next)
  const key = JSON.stringify(variables)
  useEffect(() => {
    latest.current = next
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    let stop = () => {}
    const follow = () => {
      const { unsubscribe } = client.subscription(document, JSON.parse(key)).subscribe(({ data, error }) => {
        if (data) latest.current(data)
        if (!error) return
        stop()
        // What it followed was deleted, or is no longer the person's to see.
        if (error.graphQLErrors.some(({ extensions }) => extensions["code"] === "NOT_FOUND")) return
        timer = setTimeout(follow, inboxLimits.subscribeAgainMs)
      })
      stop = unsubscribe
    }
    if (key !== "null") follow()
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [client, document, key])
}

/** A list that is read page by page and kept up to date. `source` must be the same object until the list is another one. */
export function usePages<Data, Variables extends AnyVariables, Node extends { id: string }>(
  source: ListSource<Data, Variables, Node>,
): PagesState<Node> & { more(): void } {
  const client = useClient()
  const list = useMemo(() => new PagedList(client, source), [client, source])
  const state = useSyncExternalStore(list.listen, list.state)
  return { ...state, more: list.more }
}
