import { inboxLimits } from "./limits.js"
import { refreshOperation, signInOperation, signOutOperation } from "./plain-operations.js"

/** The signed-in user's tokens, shared by all tabs of this site. */
interface Session {
  /** Tells one sign-in from another; a refresh keeps it. */
  id: string
  accessToken: string
  refreshToken: string
  /** When the access token expires, in milliseconds since 1970. */
  expiresAt: number
}

const { refreshBeforeMs } = inboxLimits
const key = "inbox-session"
const listeners = new Set<() => void>()

/** The stored session; null when nobody is signed in. */
export function session(): Session | null {
  const stored = localStorage.getItem(key)
  return stored ? JSON.parse(stored) : null
}

/** Tells one sign-in from another; null when nobody is signed in. */
export const sessionId = (): string | null => session()?.id ?? null

/** Whether somebody is signed in in this browser. */
export const isSignedIn = () => localStorage.getItem(key) !== null

/** Calls `listener` when somebody signs in or out, here or in another tab. Returns how to stop. */
export function onSession(listener: () => void): () => void {
  const stored = (event: StorageEvent) => event.key === key && listener()
  listeners.add(listener)
  addEventListener("storage", stored)
  return () => {
    listeners.delete(listener)
    removeEventListener("storage", stored)
  }
}

function store(tokens: { accessToken: string; refreshToken: string; expiresIn: number } | null, id: string = crypto.randomUUID()) {
  if (tokens) {
    const { accessToken, refreshToken, expiresIn } = tokens
    localStorage.setItem(
      key,
      JSON.stringify({ id, accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1_000 } satisfies Session),
    )
  } else localStorage.removeItem(key)
  for (const listener of listeners) listener()
}

/** Sends an operation without a client's cache. Throws an `Error` with the server's sentence; its `cause` is the code of the error. */
async function send(query: string, variables: object, token?: string) {
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = await response.json()
  if (errors?.length) throw new Error(errors[0].message, { cause: errors[0].extensions?.code })
  return data
}

/** Signs a user in. Throws an `Error` with the server's sentence. */
export async function signIn(email: string, password: string): Promise<void> {
  store((await send(signInOperation, { email, password })).signIn)
}

/** Ends the session, also on the server when it can be reached. */
export async function signOut(): Promise<void> {
  const ended = session()
  store(null)
  // The user is signed out here in any case; without the server the session ends at its expiry.
  if (ended) await send(signOutOperation, {}, ended.accessToken).catch(console.warn)
}

/** A refresh token can be used once, so one tab at a time refreshes, and the others take the pair that it stored. */
function alone<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks ? navigator.locks.request(key, work) : work()
}

/** An access token that is still valid, refreshed when needed; null when nobody is signed in or the session has ended. */
export async function validToken(refused?: string): Promise<string | null> {
  const isUsable = (found: Session | null) => found && found.accessToken !== refused && found.expiresAt - Date.now() > refreshBeforeMs
  if (isUsable(session())) return session()!.accessToken
  return alone(async () => {
    const found = session()
    if (!found || isUsable(found)) return found?.accessToken ?? null
    try {
      store((await send(refreshOperation, { refreshToken: found.refreshToken })).refreshSession, found.id)
    } catch (error) {
      // A refresh token that has expired, or that another key signed, is bad input; one that was used or whose session has ended is refused.
      if (!["UNAUTHENTICATED", "BAD_USER_INPUT"].includes((error as Error).cause as string)) throw error
      store(null)
    }
    return session()?.accessToken ?? null
  })
}

/** As `fetch`, with the user's token; a token that the server refuses is refreshed once. */
export async function fetchSignedIn(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const request = (token: string | null) => {
    const headers = new Headers(init.headers)
    if (token) headers.set("Authorization", `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
  const token = await validToken()
  const response = await request(token)
  if (response.status !== 401 || !token) return response
  return request(await validToken(token))
}
