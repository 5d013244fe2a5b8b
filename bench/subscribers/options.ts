import { parseArgs } from "node:util"
import type { Size } from "../fill.js"
import { number, sizeIn } from "../options.js"

/** The options of a run. */
export interface SubscriberOptions {
  rounds: number
  seconds: number
  /** How long memory is watched while a part of the subscribers does not read (`--minutes`); 0 for not at all. */
  memoryMinutes: number
  /** What the database holds before the run; null for a new one. */
  size: Size | null
}

/** Reads the command line; null when it does not ask for W7. */
export function readSubscriberOptions(args: string[]): SubscriberOptions | null {
  const { values } = parseArgs({
    args,
    strict: false,
    options: {
      quick: { type: "boolean" },
      workloads: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
      minutes: { type: "string" },
      chats: { type: "string" },
      others: { type: "string" },
    },
  })
  if (String(values["workloads"] ?? "").toUpperCase() !== "W7") return null
  const isQuick = values["quick"] === true
  return {
    rounds: number(values["rounds"] as string | undefined, isQuick ? 1 : 3, 1),
    seconds: number(values["seconds"] as string | undefined, isQuick ? 5 : 10, 1),
    memoryMinutes: number(values["minutes"] as string | undefined, isQuick ? 0 : 10, 0),
    size: values["chats"] === undefined ? null : sizeIn(values, 0),
  }
}
