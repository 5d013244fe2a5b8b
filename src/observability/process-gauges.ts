import type { Pool } from "pg"
import type { Replica } from "../database/replica.js"
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
