import { isDeepStrictEqual } from "node:util"
import type { Line } from "./script.js"

/** What the assistant did after one line of the customer. */
export interface Reaction {
  answer: string
  calls: { name: string; arguments: Record<string, unknown> }[]
  /** Rules of the guardrails that hit, as `answer.card`; null where they are not known by line. */
  hits: string[] | null
  handedOff: boolean
  milliseconds: number
  inputTokens: number | null
  outputTokens: number | null
}

/** Whether expectations were met; null where nothing was expected. */
export interface Verdict {
  tools: boolean | null
  facts: boolean | null
  hits: boolean | null
  handOff: boolean
  /** The missed expectations, one phrase each. */
  faults: string[]
}

const folded = (text: string) => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ")

/** Compares a reaction with what was expected. */
export function judge(line: Line, reaction: Reaction): Verdict {
  const said = folded(reaction.answer)
  const isSaid = (phrase: string) => said.includes(folded(phrase))
  const unsaid = line.facts.filter((fact) => ![fact].flat().some(isSaid)).map((fact) => `does not say ${JSON.stringify([fact].flat()[0])}`)
  const forbidden = line.never.filter(isSaid).map((phrase) => `says ${JSON.stringify(phrase)}`)
  const called = line.tools && toolFaults(line.tools, reaction.calls)
  const hit = line.hits && reaction.hits && hitFaults(line.hits, reaction.hits)
  const hands = [reaction.handedOff, null].includes(line.handOff) ? [] : [line.handOff ? "does not hand over" : "hands over"]
  return {
    tools: called ? called.length === 0 : null,
    facts: line.facts.length + line.never.length > 0 ? unsaid.length + forbidden.length === 0 : null,
    hits: hit ? hit.length === 0 : null,
    handOff: hands.length === 0,
    faults: [...(called ?? []), ...unsaid, ...forbidden, ...(hit ?? []), ...hands],
  }
}

/** Phrases about rules that did not hit, and about those that hit unexpectedly. */
const hitFaults = (expected: string[], found: string[]): string[] => [
  ...expected.filter((rule) => !found.includes(rule)).map((rule) => `${rule} does not hit`),
  ...found.filter((rule) => !expected.includes(rule)).map((rule) => `${rule} hits`),
]

/** Phrases about expected calls that are missing, with at least these arguments, and about unexpected calls. */
function toolFaults(expected: NonNullable<Line["tools"]>, calls: Reaction["calls"]): string[] {
  const left = [...calls]
  const faults: string[] = []
  for (const wanted of expected) {
    const at = left.findIndex((call) => call.name === wanted.name && fits(wanted.arguments ?? {}, call.arguments))
    if (at >= 0) left.splice(at, 1)
    else faults.push(`does not call ${wanted.name}${wanted.arguments ? ` with ${JSON.stringify(wanted.arguments)}` : ""}`)
  }
  return [...faults, ...left.map((call) => `calls ${call.name} with ${JSON.stringify(call.arguments)}`)]
}

const fits = (wanted: Record<string, unknown>, given: Record<string, unknown>) =>
  Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(value, given[name]))
