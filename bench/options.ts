import { parseArgs } from "node:util"

/** What can be measured. W6 is page 1,000 of the list whose page 1 is W1. */
export const workloads = ["W5", "W1", "W2", "W6"] as const
export type Workload = (typeof workloads)[number]

/** What one run of the benchmark does. */
export interface Options {
  chats: number
  /** Messages of all chats together. */
  messages: number
  workloads: Workload[]
  seconds: number
  warmUpSeconds: number
  rounds: number
  connections: number
}

/** Reads the command line; throws a sentence for what it does not know. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      workloads: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
    },
  })
  const asked = values.workloads?.toUpperCase().split(",") ?? [...workloads]
  const unknown = asked.filter((name) => !workloads.includes(name as Workload))
  if (unknown.length > 0) throw new Error(`There is no workload ${unknown.join(", ")}; there are ${workloads.join(", ")}`)
  // Page 1,000 means something only beside page 1.
  if (asked.includes("W6")) asked.push("W1")
  const number = (text: string | undefined, standard: number) => {
    const value = Number(text ?? standard)
    if (!(value > 0)) throw new Error(`${text} is no number above 0`)
    return value
  }
  const chats = values.quick ? 10_000 : 100_000
  return {
    chats,
    messages: chats * 10,
    workloads: workloads.filter((name) => asked.includes(name)),
    seconds: number(values.seconds, values.quick ? 4 : 8),
    warmUpSeconds: values.quick ? 1 : 2,
    rounds: number(values.rounds, values.quick ? 3 : 5),
    connections: 32,
  }
}
