import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { printed, reference } from "../test/kit/reference.js"
import type { Outcome } from "../test/kit/report-checks.js"

/**
 * The end of `.ci/run`: a table of its steps, the flaky and the skipped checks, the machine's load and speed, and the tally. Usage:
 * node --import tsx scripts/checks-table.ts FOLDER, where FOLDER has `steps` (a line each: name, seconds, exit code, load) and what the
 * steps reported (`NAME.json`, see test/kit/report-checks.ts). A step without a report counts as one check.
 */
async function main(folder: string) {
  const lines = readFileSync(join(folder, "steps"), "utf8").trim().split("\n")
  const steps = lines
    .map((line) => line.split("\t") as [string, string, string, string])
    .map((step) => ({ step, outcome: outcomeOf(folder, step) }))
  const rows = steps.map(({ step: [name, seconds, , load], outcome }) => [
    name,
    `${seconds} s`,
    ...[outcome.passed, outcome.failed, sum(outcome.skipped.map(({ count }) => count)), outcome.flaky.length].map(String),
    load,
  ])
  print(["step", "time", "passed", "failed", "skipped", "flaky", "load"], rows)
  const all = steps.map(({ outcome }) => outcome)
  for (const { name, count } of all.flatMap(({ skipped }) => skipped)) say(`SKIPPED ${name}: ${count}`)
  for (const line of all.flatMap(({ flaky }) => flaky)) say(`FLAKY ${line}`)
  for (const reason of all.flatMap(({ reasons }) => reasons)) say(`FAILED ${reason}`)
  say(`Speed of this machine at the end: ${printed(await reference())}`)
  const skipped = sum(all.flatMap(({ skipped }) => skipped.map(({ count }) => count)))
  say(`${sum(all.map(({ passed }) => passed))} passed, ${sum(all.map(({ failed }) => failed))} failed, ${skipped} skipped`)
}

function outcomeOf(folder: string, [name, , code]: string[]): Outcome {
  const file = join(folder, `${name}.json`)
  const isGreen = code === "0"
  if (existsSync(file)) {
    const outcome = JSON.parse(readFileSync(file, "utf8")) as Outcome
    if (isGreen || outcome.reasons.length > 0) return outcome
    return { ...outcome, reasons: [`${name} ended with ${code}`] }
  }
  return {
    passed: Number(isGreen),
    failed: Number(!isGreen),
    skipped: [],
    flaky: [],
    reasons: isGreen ? [] : [`${name} ended with ${code}`],
  }
}

function print(head: string[], rows: string[][]) {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  for (const row of [head, ...rows])
    say(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "))
}

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0)
const say = (line: string) => process.stdout.write(`${line}\n`)

await main(process.argv[2]!)
