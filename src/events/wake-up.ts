import { EventEmitter } from "node:events"
import type { Pool } from "pg"
import type { Logger } from "pino"
import type { Heartbeat } from "../database/heartbeat.js"
import { rootLimits } from "../limits.js"
import { reconnectWait } from "../reconnect.js"
import { logOutages } from "../redis-outage.js"

/** Notifies every instance of changes in the database, which instances then read: messages may be lost. */
export interface WakeUp {
  publish(topic: WakeUpTopic, message: string): Promise<void>
  /** Calls back for every message of a topic, also from this instance; returns a function that unsubscribes. */
  subscribe(topic: WakeUpTopic, receive: (message: string) => void): () => void
}
export type WakeUpTopic = "events" | "credentials" | "watched" | "progress"

/** A wake-up that can be closed, and that reports gaps in its messages. */
export interface OpenWakeUp extends WakeUp {
  /** Calls back after a gap in which messages may have been lost; the listener then reads the database. */
  onGap(receive: () => void): void
  close(): Promise<void>
}

const channel = "platform_wake_up"

/** Notifies the instances through PostgreSQL's NOTIFY. */
export const postgresPublisher = (pool: Pool): Pick<WakeUp, "publish"> => ({
  async publish(topic, message) {
    await pool.query({ name: "wake-up", text: "select pg_notify($1, $2)", values: [channel, `${topic} ${message}`] })
  },
})

/** Notifies the instances through PostgreSQL's LISTEN and NOTIFY, on the connection of the heartbeat, which must start later. */
export function postgresWakeUp(heartbeat: Heartbeat, pool: Pool, log: Logger): OpenWakeUp {
  const hearers = new EventEmitter().setMaxListeners(0)
  heartbeat.listen({ name: channel, receive: (payload) => receive(hearers, payload, log), onOpen: () => hearers.emit("gap") })
  return { ...hearing(hearers), ...postgresPublisher(pool), close: async () => {} }
}

/** Notifies the instances through Redis. */
export async function redisWakeUp(url: string, log: Logger): Promise<OpenWakeUp> {
  const { Redis } = await import("ioredis")
  const hearers = new EventEmitter().setMaxListeners(0)
  const options = { lazyConnect: true, connectTimeout: rootLimits.redisConnectMs, retryStrategy: reconnectWait }
  // A message that Redis does not accept in time is given up, because the sequencer waits for it.
  const publisher = new Redis(url, { ...options, maxRetriesPerRequest: 3, commandTimeout: rootLimits.redisAnswerMs })
  const listener = new Redis(url, { ...options, maxRetriesPerRequest: null })
  logOutages([publisher, listener], log, "events arrive within a second")
  listener.on("message", (_channel, payload) => receive(hearers, payload, log))
  // A server starts without Redis too, as it goes on without it; the error was logged, and both connect again.
  await Promise.all([publisher, listener].map((redis) => redis.connect().catch(() => {})))
  const subscribed = listener.subscribe(channel)
  if (listener.status === "ready") await subscribed
  else subscribed.catch((error) => log.debug({ err: error }, "Redis was not there until the server stopped"))
  listener.on("ready", () => hearers.emit("gap"))
  return {
    ...hearing(hearers),
    async publish(topic, message) {
      const payload = `${topic} ${message}`
      await publisher.publish(channel, payload).catch((error) => {
        // The change is committed, so its request must not fail. This instance is notified here, the others read after the gap.
        log.warn({ err: error }, "a wake-up could not be published")
        receive(hearers, payload, log)
      })
    },
    async close() {
      publisher.disconnect()
      listener.disconnect()
    },
  }
}

function receive(hearers: EventEmitter, payload: string, log: Logger) {
  const space = payload.indexOf(" ")
  try {
    hearers.emit(payload.slice(0, space), payload.slice(space + 1))
  } catch (error) {
    // Other programs may write to the channel too: an unknown or malformed message must not end the process.
    log.warn({ err: error }, "a wake-up could not be read")
  }
}

const hearing = (hearers: EventEmitter) => ({
  subscribe(topic: WakeUpTopic, listener: (message: string) => void) {
    hearers.on(topic, listener)
    return () => hearers.off(topic, listener)
  },
  onGap: (listener: () => void) => void hearers.on("gap", listener),
})
