import { cpuMs, postgresCpuMs } from "../processes.js"
import type { Deployment } from "./deployment.js"
import type { Contestant, Side } from "./sides.js"

/** The rows of the report. */
export const rows = [
  "T1 AI off",
  "T1 AI on",
  "T1 new",
  "T1 bridge",
  "T1 Telegram",
  "T1 out",
  "T2",
  "T3",
  "T3 MCP",
  "L10",
  "L100",
  "L500",
  "L50ms",
] as const
export type Row = (typeof rows)[number]

/** One contestant in one round. What a row does not measure is NaN. */
export interface TurnMeasurement {
  workload: Row
  contestant: Contestant
  /** Messages, deliveries or turns a second; of latencies the achieved turns, of the offered ones. */
  perSecond: number
  /** Milliseconds: of a message's request, or of a turn's overhead. */
  p50: number
  p99: number
  /** CPU milliseconds of a message or turn, in the server and in PostgreSQL. */
  serverCpu: number
  databaseCpu: number
  /** Turns that failed and were run again; of messages 0. */
  failed: number
}

/** Reads the CPU time that has passed until it is called again. */
export function cpuWatch({ postmaster }: Deployment, { pid }: Side) {
  const now = () => [cpuMs(pid), postgresCpuMs(postmaster)] as const
  const before = now()
  return (count: number) => {
    const after = now()
    return { serverCpu: (after[0] - before[0]) / count, databaseCpu: (after[1] - before[1]) / count }
  }
}

/** The value below which a share of sorted values lies. */
export const at = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
