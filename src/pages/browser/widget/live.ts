import { createClient } from "graphql-ws/client"
import { widgetLimits } from "./limits.js"
import { eventsSubscription, typingSubscription } from "./operations.js"
import { pauseMs, wait } from "./pauses.js"
import type { Answering, Message, Options, Visitor } from "./types.js"

/** What a chat is told by its socket. */
export interface LiveListener {
  message(message: Message): void
  typing(done: boolean): void
  answering(answering: Answering): void
  /** A stretch of the chat has ended: the visitor may be asked for a rating. */
  rests(): void
  connected(isConnected: boolean): void
  /** Messages may have been missed, since the subscription has no cursor to resume from. */
  missed(): void
  /** The token is no longer valid. */
  ended(): void
}

interface ChatEvent {
  id: string
  type: string
  message: Message | null
  /** Of a change of who answers. */
  payload: { isUnderAiControl: boolean; aiDisableReason: "auto" | "manual" | null }
}

const unauthorized = 4401

/** Receives what happens in a visitor's chat until it is stopped; reconnects, and resumes after the last event. Returns how to stop. */
export function live(options: Options, visitor: () => Visitor | null, listener: LiveListener): () => void {
  const { chatId } = visitor()!
  let after: string | null = null
  let stopped = false
  let unanswered: ReturnType<typeof setTimeout> | undefined
  const client = createClient({
    url: new URL("/graphql", options.base).href.replace(/^http/, "ws"),
    connectionParams: () => ({ authorization: `Bearer ${visitor()?.token}` }),
    keepAlive: widgetLimits.keepAliveMs,
    lazy: true,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: (retries) => wait(pauseMs(retries)),
    on: {
      connected: () => {
        listener.connected(true)
        if (after === null) listener.missed()
      },
      closed: () => {
        clearTimeout(unanswered)
        listener.connected(false)
      },
      ping: (isReceived) => {
        if (!isReceived) unanswered = setTimeout(() => client.terminate(), widgetLimits.keepAliveMs)
      },
      pong: (isReceived) => {
        if (isReceived) clearTimeout(unanswered)
      },
    },
  })

  /** Subscribes, and again when the server ends the subscription; the variables are read at each connection. */
  function follow<T>(query: string, variables: Record<string, unknown>, next: (data: T) => void, failures = 0) {
    if (stopped) return
    let isOver = false
    const again = () => {
      if (!isOver) void wait(pauseMs(failures)).then(() => follow(query, variables, next, failures + 1))
    }
    const end = () => {
      isOver = true
      if (!stopped) listener.ended()
    }
    const refused = (errors: readonly { extensions?: Record<string, unknown> }[]) => {
      const codes = errors.map(({ extensions }) => extensions?.["code"])
      if (codes.includes("UNAUTHENTICATED")) end()
      else if (codes.includes("RESYNC_REQUIRED")) {
        after = null
        listener.missed()
      }
    }
    client.subscribe<T>(
      { query, variables },
      {
        next: ({ data, errors }) => {
          // An error of the subscription's start comes as a result, and then the subscription is complete.
          if (errors) return refused(errors)
          failures = 0
          if (data) next(data)
        },
        complete: again,
        error: (error) => {
          if (Array.isArray(error)) refused(error)
          else if ((error as Partial<CloseEvent>).code === unauthorized) end()
          again()
        },
      },
    )
  }

  const resumable = {
    chatId,
    // The client reads this whenever it subscribes again after a lost connection.
    get after() {
      return after
    },
  }
  follow<{ events: ChatEvent }>(eventsSubscription, resumable, ({ events: { id, type, message, payload } }) => {
    after = id
    if (message) listener.message(message)
    if (type === "STRETCH_ENDED") listener.rests()
    if (type !== "CHAT_MODE_CHANGED") return
    const { isUnderAiControl, aiDisableReason } = payload
    listener.answering(isUnderAiControl ? "assistant" : aiDisableReason === "auto" ? "waiting" : "person")
  })
  follow<{ answerProgress: { done: boolean } }>(typingSubscription, { chatId }, ({ answerProgress }) =>
    listener.typing(answerProgress.done),
  )
  return () => {
    stopped = true
    client.dispose()
  }
}
