import { useMemo } from "react"
import { Link } from "wouter"
import { useAddress } from "../kit/company.js"
import { inAddress, type StretchFilter } from "./filters.js"
import { addressOf, choiceOf, type Period, periodOf, usualOf } from "./period.js"

const zoneOfBrowser = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** The period that the address chooses, and how to choose another one. */
export function usePeriod() {
  const { query, path, go } = useAddress()
  const key = query.toString()
  return useMemo(() => {
    const choice = choiceOf(new URLSearchParams(key), zoneOfBrowser, usualOf(path))
    const choose = (changes: Partial<typeof choice>) => go(path, addressOf({ ...choice, ...changes }))
    return { choice, period: periodOf(choice, new Date()), choose }
  }, [key, path, go])
}

/** The period of a report as variables of the server. */
export const variablesOf = ({ from, to }: Pick<Period, "from" | "to">) => ({ from: from.toISOString(), to: to.toISOString() })

interface Behind {
  filter: StretchFilter
  /** Another period than the one of the address. */
  of?: Pick<Period, "first" | "last"> | undefined
  /** What the number is, for those who do not see what stands beside it. */
  name: string
  children: string | number
}

/** A number that opens the list of the stretches behind it. */
export function Rows({ filter, of, name, children }: Behind) {
  const { to } = useAddress()
  const { choice } = usePeriod()
  const period = of ? addressOf({ ...choice, preset: null, ...of }) : addressOf(choice)
  return (
    <Link href={to("/outcomes/chats", { ...inAddress(filter), ...period })} aria-label={`${children}, ${name}`}>
      {children}
    </Link>
  )
}
