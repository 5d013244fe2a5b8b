import { type MouseEvent, useEffect, useState } from "react"
import { inboxLimits } from "./limits.js"
import { t } from "./words.js"

/** A button for what cannot be undone: the first press asks, the second one does it. */
export function Confirmed({ label, name, act }: { label: string; name?: string; act(): void }) {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (!isAsking) return
    const timer = setTimeout(() => setAsking(false), inboxLimits.confirmMs)
    return () => clearTimeout(timer)
  }, [isAsking])
  function pressed({ detail }: MouseEvent) {
    // The second press of a double click confirms nothing.
    if (isAsking && detail < 2) act()
    setAsking(!isAsking || detail > 1)
  }
  return (
    <button
      type="button"
      aria-label={name && `${isAsking ? `${t("Really?")} ` : ""}${name}`}
      className={isAsking ? "refused" : undefined}
      onBlur={() => setAsking(false)}
      onClick={pressed}
    >
      {isAsking ? `${t("Really?")} ${label}` : label}
    </button>
  )
}
