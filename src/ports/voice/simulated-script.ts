import type { VoiceHost } from "../voice.js"

/** What the simulated customer does. */
const scripts = ["answer", "no_answer", "busy", "voicemail", "hang_up", "silence", "max_duration", "fail"] as const
export type SimulatedScript = (typeof scripts)[number]

/** Numbers that end so have a script of their own. */
const byNumber: Record<string, SimulatedScript> = {
  "99401": "no_answer",
  "99402": "busy",
  "99403": "voicemail",
  "99404": "hang_up",
  "99405": "silence",
  "99406": "max_duration",
  "99407": "fail",
}

const builtIn = ["Hello, who is this?", "What are your opening hours?", "Thank you, goodbye."]

/** What the customer says in each script where the caller gives no lines. */
const linesOf: Partial<Record<SimulatedScript, string[]>> = {
  voicemail: [],
  hang_up: [],
  silence: [builtIn[0]!],
}

/** The script of a call, and the lines of its customer: the variables `simulate` and `simulate_says`, else the last digits of the number. */
export function scriptOf({ variables, toNumber }: Pick<VoiceHost, "variables" | "toNumber">): { script: SimulatedScript; lines: string[] } {
  const named = scripts.find((script) => script === variables["simulate"])
  const script = named ?? byNumber[toNumber.slice(-5)] ?? "answer"
  const given = String(variables["simulate_says"] ?? "")
    .split("|")
    .map((line) => line.trim())
    .filter(Boolean)
  return { script, lines: linesOf[script] ?? (given.length > 0 ? given : builtIn) }
}
