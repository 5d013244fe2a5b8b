import { useEffect, useState } from "react"
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
  return (
    <button
      type="button"
      aria-label={name && `${isAsking ? `${t("Really?")} ` : ""}${name}`}
      className={isAsking ? "refused" : undefined}
      onBlur={() => setAsking(false)}
      onClick={() => (isAsking ? act() : setAsking(true))}
    >
      {isAsking ? `${t("Really?")} ${label}` : label}
    </button>
  )
}
