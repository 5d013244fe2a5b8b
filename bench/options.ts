import { parseArgs } from "node:util"

/** What is put under load. W6 is page 1,000 of the list whose page 1 is W1. */
const workloads = ["W1", "W6", "W2", "W3", "W4", "W5"] as const
export type Workload = (typeof workloads)[number]

/** The whole history of one chat, as one streamed answer: it is read, not put under load. */
const history = "H1"

/** What one run of the benchmark does. */
export interface Options {
  chats: number
  /** Messages of all chats together. */
  messages: number
  workloads: Workload[]
  /** Whether the history of a long chat is streamed. */
  history: boolean
  /** Message writes after which everything is measured once more; none when 0. */
  writes: number
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
      writes: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
    },
  })
  const known: string[] = [...workloads, history]
  const asked = values.workloads?.toUpperCase().split(",") ?? known
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`There is no workload ${unknown.join(", ")}; there are ${known.join(", ")}`)
  // Page 1,000 means something only beside page 1.
  if (asked.includes("W6")) asked.push("W1")
  const chats = values.quick ? 10_000 : 100_000
  const loads = workloads.filter((name) => asked.includes(name))
  return {
    chats,
    messages: chats * 10,
    workloads: loads,
    history: asked.includes(history),
    writes: number(values.writes, values.quick || loads.length === 0 ? 0 : 300_000, 0),
    seconds: number(values.seconds, values.quick ? 3 : 5, 1),
    warmUpSeconds: values.quick ? 1 : 2,
    rounds: number(values.rounds, 3, 1),
    connections: 32,
  }
}

function number(text: string | undefined, standard: number, least: number): number {
  const value = Number(text ?? standard)
  if (!(value >= least)) throw new Error(`${text} is no number from ${least} up`)
  return value
}
