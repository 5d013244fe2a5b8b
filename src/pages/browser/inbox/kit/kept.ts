import { isSignedIn, onSession } from "./session.js"

const prefix = "inbox-draft:"

// What a person wrote is nobody else's: it ends with their session.
onSession(() => {
  if (isSignedIn()) return
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
})

/** What was written in this tab and not yet taken by the server; it outlives a reload. Null when there is nothing. */
export function kept<Value>(name: string): Value | null {
  const stored = sessionStorage.getItem(prefix + name)
  return stored ? JSON.parse(stored) : null
}

/** Keeps what was written; null forgets it. */
export function keep(name: string, value: unknown) {
  if (value === null) sessionStorage.removeItem(prefix + name)
  else sessionStorage.setItem(prefix + name, JSON.stringify(value))
}
