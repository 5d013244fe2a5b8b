import { readFileSync, rmSync } from "node:fs"
import { relative } from "node:path"
import { promiseBroken } from "./promise.js"
import type { Outcome } from "./report-checks.js"

/** How many files may fail at first and pass when they are run alone; with more of them the run has failed. */
export const mostFlaky = 2

/** What ended the process of a file: a server that runs in it would have ended too, which no second try excuses. */
const ended = /worker process (?:\(pid=\d+\) )?was terminated|Jest worker encountered \d+ child process exceptions/

/** The part of Jest's JSON that is read here. */
interface JestResults {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; ancestorTitles: string[]; status: string; failureMessages: string[] }[]
  }[]
}

/** Runs Jest with arguments; answers its exit code. */
export type RunJest = (args: string[]) => Promise<number>

/**
 * Runs Jest once, and each file that failed once more, alone: where the machine was to blame it passes then, which is said and counted. A file
 * that failed by a promise, or whose process ended, is not tried again, nor are more than `mostFlaky` files.
 */
export async function withSecondTry(jest: RunJest, args: string[], folder: string): Promise<Outcome> {
  const first = await once(jest, args, folder)
  const failed = first.testResults.filter(({ status }) => status === "failed")
  const outcome = { ...counted(first), flaky: [] as string[], reasons: [] as string[] }
  if (failed.length === 0) {
    if (first.code !== 0) outcome.reasons.push(`Jest ended with ${first.code}, though no file failed.`)
    return outcome
  }
  const broken = failed.filter(isUnforgivable)
  outcome.reasons.push(...broken.map((result) => `A promise was broken: ${firstError(result)}`))
  if (failed.length > mostFlaky)
    outcome.reasons.push(`${failed.length} files failed; at most ${mostFlaky} may fail at first, so none is tried again.`)
  if (outcome.reasons.length > 0) return outcome
  for (const result of failed) {
    const second = await once(jest, ["--runTestsByPath", result.name], folder)
    if (second.code !== 0) outcome.reasons.push(`It failed twice: ${firstError(result)}`)
    else {
      outcome.flaky.push(firstError(result))
      const [before, now] = [counted({ testResults: [result] }), counted(second)]
      outcome.passed += now.passed - before.passed
      outcome.failed -= before.failed
    }
  }
  return outcome
}

/** A run without a second try. */
export async function withOneTry(jest: RunJest, args: string[], folder: string): Promise<Outcome> {
  const results = await once(jest, args, folder)
  const failed = results.testResults.filter(({ status }) => status === "failed")
  const reasons = failed.map(firstError)
  if (results.code !== 0 && reasons.length === 0) reasons.push(`Jest ended with ${results.code}.`)
  return { ...counted(results), flaky: [], reasons }
}

async function once(jest: RunJest, args: string[], folder: string): Promise<JestResults & { code: number }> {
  const file = `${folder}/results.json`
  rmSync(file, { force: true })
  const code = await jest([...args, "--json", "--outputFile", file])
  try {
    return { code, ...(JSON.parse(readFileSync(file, "utf8")) as JestResults) }
  } catch {
    return { code: code || 1, testResults: [] }
  }
}

function counted({ testResults }: JestResults): Pick<Outcome, "passed" | "failed" | "skipped"> {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, ancestorTitles, fullName }) => ({ status, group: `${file(name)} › ${ancestorTitles[0] ?? fullName}` })),
  )
  const skipped = new Map<string, number>()
  for (const { status, group } of all)
    if (["pending", "skipped", "todo"].includes(status)) skipped.set(group, (skipped.get(group) ?? 0) + 1)
  const unloaded = testResults.filter(({ status, assertionResults }) => status === "failed" && assertionResults.length === 0).length
  return {
    passed: all.filter(({ status }) => status === "passed").length,
    failed: all.filter(({ status }) => status === "failed").length + unloaded,
    skipped: [...skipped].map(([name, count]) => ({ name, count })),
  }
}

const isUnforgivable = ({ message, assertionResults }: JestResults["testResults"][number]) =>
  [message, ...assertionResults.flatMap(({ failureMessages }) => failureMessages)].some(
    (text) => text.includes(promiseBroken) || ended.test(text),
  )

/** `file › test: first error`, on one line. */
function firstError({ name, message, assertionResults }: JestResults["testResults"][number]): string {
  const failed = assertionResults.find(({ status }) => status === "failed")
  const text = failed?.failureMessages[0] ?? message
  const line = text.split("\n").find((each) => each.trim() !== "" && !each.trim().startsWith("at ")) ?? "no message"
  return `${file(name)}${failed ? ` › ${failed.fullName}` : ""}: ${plain(line.trim())}`
}

const file = (name: string) => relative("", name)

// biome-ignore lint/suspicious/noControlCharactersInRegex: Jest colors its messages with these.
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "")
