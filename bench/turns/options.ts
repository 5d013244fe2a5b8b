import { parseArgs } from "node:util"
import type { Size } from "../fill.js"
import { number, sizeIn } from "../options.js"
import { mustHaveTenth, sizeWorkload } from "../size-options.js"

/** The workloads of customers' messages and the assistants' turns. */
export const turnWorkloads = ["T1", "T2", "T3", "L", "B"] as const
export type TurnWorkload = (typeof turnWorkloads)[number]

/** The options of a run of these workloads. */
export interface TurnOptions {
  workloads: TurnWorkload[]
  rounds: number
  /** Seconds of load in a round: of messages in T1 and L, of turns in T2 and T3. */
  seconds: number
  warmUpSeconds: number
  /** Connections over which customers' messages come in T1. */
  connections: number
  /** The most messages a second in T1, so that two versions are compared at the same load; no limit without. */
  atMost: number | undefined
  /** Rest after T2, before the server's memory is read again. */
  restSeconds: number
  /** What the database holds before the run; null for a new one. */
  size: Size | null
  /** Whether it is measured, in turns, what ours costs on a database with a tenth of the chats, in place of the others. */
  isWithTenth: boolean
}

/** Reads the command line; null when it asks for none of these workloads, and throws when it asks for others too. */
export function readTurnOptions(args: string[]): TurnOptions | null {
  const { values } = parseArgs({
    args,
    strict: false,
    options: {
      quick: { type: "boolean" },
      workloads: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
      connections: { type: "string" },
      chats: { type: "string" },
      others: { type: "string" },
      "at-most": { type: "string" },
    },
  })
  const named = String(values["workloads"] ?? "")
    .toUpperCase()
    .split(",")
  const asked = named.filter((name) => name !== sizeWorkload)
  const isWithTenth = asked.length < named.length
  const workloads = turnWorkloads.filter((name) => asked.includes(name))
  if (workloads.length === 0) return null
  if (workloads.length < asked.length) throw new Error(`${turnWorkloads.join(", ")} run apart from the other workloads`)
  const size = values["chats"] === undefined ? null : sizeIn(values, 0)
  if (isWithTenth) {
    mustHaveTenth(size)
    // B has no other side, and at a given pace both sides are as fast.
    if (workloads.includes("B") || values["at-most"] !== undefined)
      throw new Error(`${sizeWorkload} measures T1, T2, T3 and L, without --at-most`)
  }
  const isQuick = values["quick"] === true
  return {
    workloads,
    rounds: number(values["rounds"] as string | undefined, isQuick ? 1 : 3, 1),
    seconds: number(values["seconds"] as string | undefined, isQuick ? 3 : 10, 1),
    connections: number(values["connections"] as string | undefined, 32, 1),
    atMost: values["at-most"] === undefined ? undefined : number(String(values["at-most"]), 1, 1),
    warmUpSeconds: isQuick ? 3 : 5,
    restSeconds: isQuick ? 15 : 60,
    size,
    isWithTenth,
  }
}
