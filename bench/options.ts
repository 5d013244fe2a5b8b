import { parseArgs } from "node:util"
import type { Size } from "./fill.js"

/** The workloads. W6 is page 1,000 of the list whose page 1 is W1. */
const workloads = ["W1", "W6", "W2", "W3", "W4", "W5"] as const
export type Workload = (typeof workloads)[number]

/** The whole history of one chat as one streamed response; read once, without load. */
const history = "H1"

/** Messages until they are delivered, beside those that are not. */
const delivered = "D1"

/** The options of a run. */
export interface Options {
  size: Size
  workloads: Workload[]
  /** Whether the history of a long chat is streamed. */
  history: boolean
  /** Whether it is measured what messages cost until they are delivered. */
  delivered: boolean
  /** Message writes after which everything is measured again; 0 for none. */
  writes: number
  seconds: number
  warmUpSeconds: number
  rounds: number
  connections: number
}

/** Reads the command line; throws a sentence about an unknown option. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      chats: { type: "string" },
      others: { type: "string" },
      quick: { type: "boolean", default: false },
      workloads: { type: "string" },
      writes: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
    },
  })
  const known: string[] = [...workloads, delivered, history]
  const asked = values.workloads?.toUpperCase().split(",") ?? known
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`There is no workload ${unknown.join(", ")}; there are ${known.join(", ")}`)
  // Page 1,000 is compared with page 1.
  if (asked.includes("W6")) asked.push("W1")
  const size = sizeIn(values, values.quick ? 10_000 : 100_000)
  const loads = workloads.filter((name) => asked.includes(name))
  return {
    size,
    workloads: loads,
    history: asked.includes(history),
    delivered: asked.includes(delivered),
    writes: number(values.writes, values.quick || loads.length === 0 ? 0 : 300_000, 0),
    seconds: number(values.seconds, values.quick ? 3 : 5, 1),
    warmUpSeconds: values.quick ? 1 : 2,
    rounds: number(values.rounds, 3, 1),
    connections: 32,
  }
}

/** The size of the database of a run in the options of the command line: `--chats`, and `--others`. */
export const sizeIn = (values: { chats?: unknown; others?: unknown }, standard: number): Size => ({
  chats: number(values.chats as string | undefined, standard, 1_000),
  others: number(values.others as string | undefined, 0, 0),
})

/** The number in an option, or the standard one; throws when it is too small. */
export function number(text: string | undefined, standard: number, least: number): number {
  const value = Number(text ?? standard)
  if (!(value >= least)) throw new Error(`${text} is not a number of at least ${least}`)
  return value
}
