import { createClient, type Client as Socket } from "graphql-ws/client"
import { inboxLimits } from "./limits.js"
import { validToken } from "./session.js"

const unauthorized = 4401
const { keepAliveMs, firstPauseMs, longestPauseMs } = inboxLimits

/** The pause before the next attempt to connect, in milliseconds: doubled each time, and spread, so that clients do not return together. */
const pauseMs = (retries: number) => Math.min(longestPauseMs, firstPauseMs * 2 ** retries) * (0.5 + Math.random())

/** A socket for subscriptions that connects again for as long as the page is open. `connected` learns of each change. */
export function openSocket(connected: (isConnected: boolean) => void): Socket {
  let token: string | null = null
  let refused: string | undefined
  let unanswered: ReturnType<typeof setTimeout> | undefined
  const socket: Socket & { terminate(): void } = createClient({
    url: new URL("/graphql", location.href).href.replace(/^http/, "ws"),
    connectionParams: async () => {
      token = await validToken(refused)
      return { authorization: `Bearer ${token}` }
    },
    keepAlive: keepAliveMs,
    lazy: true,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: (retries) => new Promise((resolve) => setTimeout(resolve, pauseMs(retries))),
    on: {
      connected: () => connected(true),
      closed: (event) => {
        clearTimeout(unanswered)
        // The token is no longer good, although it has not expired: the next connection refreshes it, or the session has ended.
        if ((event as CloseEvent).code === unauthorized) refused = token ?? undefined
        connected(false)
      },
      ping: (isReceived) => {
        if (!isReceived) unanswered = setTimeout(() => socket.terminate(), keepAliveMs)
      },
      pong: (isReceived) => {
        if (isReceived) clearTimeout(unanswered)
      },
    },
  })
  return socket
}
