import { createContext, useContext, useMemo } from "react"
import { useQuery } from "urql"
import { useLocation, useSearch } from "wouter"
import { type Choices, choicesQuery, type Me } from "./operations.js"

/** The signed-in user, and the company whose chats are shown. */
interface Place {
  readonly me: Me
  readonly companyId: string
}

/** Set below the sign-in. */
export const PlaceContext = createContext<Place>({ me: { id: "", name: "", email: "", companies: [] }, companyId: "" })

export const usePlace = () => useContext(PlaceContext)

/** Whether the user is an owner or administrator of the company; only they may change what connects it with other systems. */
export function useIsManager(): boolean {
  const { me, companyId } = usePlace()
  const role = me.companies.find(({ id }) => id === companyId)?.role
  return role === "OWNER" || role === "ADMIN"
}

/** Members, folders and tags of the company; empty until they are read. */
export function useChoices(): Choices {
  const { companyId } = usePlace()
  const [{ data }] = useQuery({ query: choicesQuery, variables: { companyId }, requestPolicy: "cache-and-network" })
  return useMemo(() => data ?? { company: null, chatFolders: [], chatTags: [] }, [data])
}

/** The query of the address, and how to go to another address with a changed query: an empty value removes a name. */
export function useAddress() {
  const search = useSearch()
  const [path, navigate] = useLocation()
  return useMemo(() => {
    const query = new URLSearchParams(search)
    const change = (changes: Record<string, string>) => {
      const changed = new URLSearchParams(search)
      for (const [name, value] of Object.entries(changes)) value ? changed.set(name, value) : changed.delete(name)
      return changed.size ? `?${changed}` : ""
    }
    return {
      path,
      query,
      /** The address of a path that keeps the query, with changes. */
      to: (target: string, changes: Record<string, string> = {}) => target + change(changes),
      go: (target: string, changes: Record<string, string> = {}, options?: { replace: boolean }) =>
        navigate(target + change(changes), options),
    }
  }, [search, path, navigate])
}
