import { EventEmitter } from "node:events"
import type { Pool } from "pg"
import type { Logger } from "pino"
import type { Heartbeat } from "../database/heartbeat.js"
import { rootLimits } from "../limits.js"
import { reconnectWait } from "../reconnect.js"

/** Tells every instance that something in the database is worth a look; the database stays the truth. */
export interface WakeUp {
  publish(topic: WakeUpTopic, message: string): Promise<void>
  /** Hears every message of a topic, those of this instance too; answers how to stop. */
  subscribe(topic: WakeUpTopic, hear: (message: string) => void): () => void
}
export type WakeUpTopic = "events" | "credentials" | "watched" | "progress"

/** A wake-up that can be closed, and that says when it may have missed something. */
export interface OpenWakeUp extends WakeUp {
  /** Calls back after a gap in which messages may have been lost; the listener looks at the database. */
  onGap(hear: () => void): void
  close(): Promise<void>
}

const channel = "platform_wake_up"

/** Wakes the instances through PostgreSQL's NOTIFY. */
export const postgresPublisher = (pool: Pool): Pick<WakeUp, "publish"> => ({
  async publish(topic, message) {
    await pool.query({ name: "wake-up", text: "select pg_notify($1, $2)", values: [channel, `${topic} ${message}`] })
  },
})

/** Wakes the other instances through PostgreSQL's LISTEN and NOTIFY, on the connection of the heartbeat; made before that starts. */
export function postgresWakeUp(heartbeat: Heartbeat, pool: Pool): OpenWakeUp {
  const hearers = new EventEmitter().setMaxListeners(0)
  heartbeat.listen({ name: channel, hear: (payload) => hear(hearers, payload), onOpen: () => hearers.emit("gap") })
  return { ...hearing(hearers), ...postgresPublisher(pool), close: async () => {} }
}

/** Wakes the other instances through Redis. */
export async function redisWakeUp(url: string, log: Logger): Promise<OpenWakeUp> {
  const { Redis } = await import("ioredis")
  const hearers = new EventEmitter().setMaxListeners(0)
  const options = { lazyConnect: true, connectTimeout: rootLimits.redisConnectMs, retryStrategy: reconnectWait }
  // A message that Redis does not take in time is given up: the sequencer waits for it.
  const publisher = new Redis(url, { ...options, maxRetriesPerRequest: 3, commandTimeout: rootLimits.redisAnswerMs })
  const listener = new Redis(url, { ...options, maxRetriesPerRequest: null })
  for (const redis of [publisher, listener]) redis.on("error", (error) => log.warn({ err: error }, "Redis is not reachable"))
  await Promise.all([publisher.connect(), listener.connect()])
  await listener.subscribe(channel)
  listener.on("message", (_channel, payload) => hear(hearers, payload))
  listener.on("ready", () => hearers.emit("gap"))
  return {
    ...hearing(hearers),
    async publish(topic, message) {
      const payload = `${topic} ${message}`
      await publisher.publish(channel, payload).catch((error) => {
        // What it tells of is committed: its request must not fail. This instance hears of it here, the others look after the gap.
        log.warn({ err: error }, "a wake-up could not be published")
        hear(hearers, payload)
      })
    },
    async close() {
      publisher.disconnect()
      listener.disconnect()
    },
  }
}

function hear(hearers: EventEmitter, payload: string) {
  const space = payload.indexOf(" ")
  hearers.emit(payload.slice(0, space), payload.slice(space + 1))
}

const hearing = (hearers: EventEmitter) => ({
  subscribe(topic: WakeUpTopic, listener: (message: string) => void) {
    hearers.on(topic, listener)
    return () => hearers.off(topic, listener)
  },
  onGap: (listener: () => void) => void hearers.on("gap", listener),
})
