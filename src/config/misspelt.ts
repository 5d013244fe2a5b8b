import { rootLimits } from "../limits.js"
import { variableNames } from "./environment.js"

/** The first words of our variables, with which a name has to begin: others belong to other programs. */
const prefixes = new Set(variableNames.map((name) => name.split("_")[0]!))

/** One line for each variable that is probably one of ours with a typing error; values are never shown. */
export function misspelt(env: NodeJS.ProcessEnv): string[] {
  const known: ReadonlySet<string> = new Set(variableNames)
  return Object.keys(env)
    .filter((name) => !known.has(name) && prefixes.has(name.split("_")[0]!) && name.includes("_"))
    .flatMap((name) => {
      const meant = meantBy(name, variableNames)
      return meant ? [`the environment variable ${name} is not known and is ignored; is ${meant} meant?`] : []
    })
}

/** The name that was probably meant by one with a typing error; null when none is close. */
export function meantBy(name: string, names: readonly string[]): string | null {
  const [nearest] = names.map((each) => ({ each, edits: editsBetween(name, each) })).sort((a, b) => a.edits - b.edits)
  return nearest && nearest.edits <= rootLimits.misspeltEdits ? nearest.each : null
}

/** The number of characters to insert, delete or replace that make one text the other. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_each, index) => index)
  for (const [index, character] of [...a].entries()) {
    const above = row
    row = [index + 1]
    for (const [at, other] of [...b].entries())
      row.push(Math.min(above[at]! + (character === other ? 0 : 1), above[at + 1]! + 1, row[at]! + 1))
  }
  return row[b.length]!
}
