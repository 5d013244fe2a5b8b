import type { Figures } from "./figures.js"
import type { Workload } from "./options.js"
import type { Contestant } from "./requests.js"

/** A target of a workload, and how its value is computed from the figures. */
export interface Target {
  workload: Workload
  says: string
  value(figures: Figures): number
  atLeast?: number
  atMost?: number
}

const ofOther = (workload: Workload, other: Contestant, atLeast: number): Target => ({
  workload,
  says: `requests per second, of ${other}'s`,
  value: (figures) => figures.ratio([workload, "ours"], [workload, other]),
  atLeast,
})

const restCosts = (workload: Workload): Target => ({
  workload,
  says: "server CPU of REST, of the same operation's over GraphQL",
  value: (figures) => figures.ratio([workload, "ours, REST"], [workload, "ours, REST's fields"], "serverCpu"),
  atMost: 1.15,
})

/** The targets of all workloads. */
export const targets: Target[] = [
  ofOther("W1", "PostGraphile", 2),
  ofOther("W1", "LIMIT-rows", 0.6),
  {
    workload: "W1",
    says: "milliseconds of server CPU a request",
    value: (figures) => figures.median("W1", "ours", "serverCpu"),
    atMost: 0.9,
  },
  {
    workload: "W1",
    says: "MB resident after its first round",
    value: (figures) => figures.first("W1", "ours", "residentMb"),
    atMost: 300,
  },
  restCosts("W1"),
  {
    workload: "W6",
    says: "requests per second of page 1, of the far page's",
    value: (figures) => figures.ratio(["W1", "ours"], ["W6", "ours"]),
    atMost: 1.3,
  },
  ofOther("W2", "PostGraphile", 1.7),
  ofOther("W2", "LIMIT", 0.7),
  restCosts("W2"),
  ofOther("W3", "LIMIT", 0.75),
  restCosts("W3"),
  ofOther("W4", "LIMIT", 0.9),
  restCosts("W4"),
  ofOther("W5", "PostGraphile", 1.5),
  ofOther("W5", "LIMIT", 0.75),
  restCosts("W5"),
]

/** Server CPU of a message without a connection, of one that its event delivers, at most. */
export const failsAtMost = 1.25

/** What a request, a message or a turn may cost with ten times the chats, of what it costs. */
export const tenfoldCostsAtMost = 1.3

/** Growth of the server's memory while a history of 100,000 messages is streamed, in MB. */
export const historyGrowth = 50

const bound = ({ atLeast, atMost }: Pick<Target, "atLeast" | "atMost">) =>
  atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`

/** A line about a target: the bound, the value in each phase, and whether it was met. */
export function verdict(workload: string, says: string, target: Pick<Target, "atLeast" | "atMost">, values: number[]): string[] {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target
  const outcome = (value: number) => (value >= atLeast && value <= atMost ? "met" : "missed")
  // A contestant that answered nothing is no measure.
  const measured = values.flatMap((value) => (Number.isFinite(value) ? [value.toFixed(2), outcome(value)] : ["none", "not measured"]))
  return [workload, says, bound(target), ...measured]
}
