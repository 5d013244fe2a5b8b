import { createClient } from "graphql-ws/client"
import { logEnd } from "./api.js"
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
  /** What is in the chat is to be read: only what happens from now on comes as events. */
  begins(): void
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
      connected: () => listener.connected(true),
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

  /** Subscribes, and again when the server ends the subscription; `resync` does so when the log no longer has what follows `after`. */
  function follow<T>(query: string, variables: Record<string, unknown>, next: (data: T) => void, resync?: () => void) {
    let failures = 0
    const subscribe = () => {
      if (stopped) return
      let isOver = false
      let start = subscribe
      const again = () => {
        if (isOver) return
        void wait(pauseMs(failures)).then(start)
        failures += 1
      }
      const end = () => {
        isOver = true
        if (!stopped) listener.ended()
      }
      const refused = (errors: readonly { extensions?: Record<string, unknown> }[]) => {
        const codes = errors.map(({ extensions }) => extensions?.["code"])
        if (codes.includes("UNAUTHENTICATED")) end()
        else if (resync && codes.includes("RESYNC_REQUIRED")) start = resync
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
    subscribe()
  }

  /** Reads where the log ends until the server answers; what is before it is then read, and what follows comes as events. */
  async function begin() {
    let after: string | null = null
    for (let failures = 0; !stopped; failures += 1) {
      const reader = visitor()
      after = reader && (await logEnd(options, reader))
      if (after) break
      await wait(pauseMs(failures))
    }
    if (stopped) return
    listener.begins()
    const resumable = {
      chatId,
      // The client reads this whenever it subscribes again after a lost connection.
      get after() {
        return after
      },
    }
    const received = ({ events: { id, type, message, payload } }: { events: ChatEvent }) => {
      after = id
      if (message) listener.message(message)
      if (type === "STRETCH_ENDED") listener.rests()
      if (type !== "CHAT_MODE_CHANGED") return
      const { isUnderAiControl, aiDisableReason } = payload
      listener.answering(isUnderAiControl ? "assistant" : aiDisableReason === "auto" ? "waiting" : "person")
    }
    follow(eventsSubscription, resumable, received, () => void begin())
  }

  follow<{ answerProgress: { done: boolean } }>(typingSubscription, { chatId }, ({ answerProgress }) =>
    listener.typing(answerProgress.done),
  )
  void begin()
  return () => {
    stopped = true
    client.dispose()
  }
}
