import { setTimeout as pause } from "node:timers/promises"
import type { Pool } from "pg"
import type { Replica } from "../database/replica.js"
import { observabilityLimits } from "./limits.js"
import { measuredTurns } from "./longest-turns.js"
import type { Metrics } from "./metrics.js"

const unplaced = {
  name: "unplaced-events",
  text: "select count(*)::integer as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from event where position is null",
}

/** Adds a gauge of the replica. */
export const addReplicaGauge = (metrics: Metrics, replica: Pick<Replica, "age">) =>
  metrics.gauge(
    "platform_replica_age_seconds",
    "Time by which the replica is behind at most; -1 while that is not known.",
    () => replica.age ?? -1,
  )

/** Adds a gauge of the services that the server uses: 1 for each that answers its question at a scrape, 0 for one that refuses it or is silent. */
export const addServiceGauge = (metrics: Metrics, services: Map<string, () => Promise<boolean>>) =>
  metrics.gauge(
    "platform_service_up",
    "Whether a service that the server uses answers: 1, or 0.",
    async () => new Map(await Promise.all([...services].map(async ([name, ask]) => [name, Number(await inTime(ask()))] as const))),
    "service",
  )

const inTime = (answer: Promise<boolean>) =>
  Promise.race([answer.catch(() => false), pause(observabilityLimits.serviceAnswerMs, false, { ref: false })])

/** Adds gauges of the database pool, of open sockets, of requests that wait for a turn, and of the sequencer's lag. */
export function addProcessGauges(metrics: Metrics, pool: Pool, openSockets: () => number, waiting: () => number) {
  metrics.gauge(
    "platform_database_connections",
    "Connections of the database pool by state; waiting are requests for a connection.",
    () =>
      new Map([
        ["used", pool.totalCount - pool.idleCount],
        ["idle", pool.idleCount],
        ["waiting", pool.waitingCount],
      ]),
    "state",
  )
  metrics.gauge(
    "platform_open_sockets",
    "Open sockets of this instance: connections of graphql-ws, and namespaces of Socket.IO.",
    openSockets,
  )
  metrics.gauge("platform_turns_waiting", "Requests and steps of durable work that wait for the turn of their company.", waiting)
  metrics.gauge(
    "platform_event_loop_longest_seconds",
    "Longest time of the last minute in which this process did nothing else, by what ran.",
    measuredTurns(),
    "cause",
  )
  metrics.gauge("platform_events_unplaced", "Committed events without a position in the log.", async () => (await lag(pool)).count)
  metrics.gauge("platform_sequencer_lag_seconds", "Age of the oldest event without a position.", async () => (await lag(pool)).seconds)
}

const lag = async (pool: Pool): Promise<{ count: number; seconds: number }> => (await pool.query(unplaced)).rows[0]
