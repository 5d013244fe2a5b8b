import { codeOf, type Rule } from "./house-rules.js"

/** Folders and files that wait themselves: the functions that wait, what measures the machine, and campaigns against servers in other processes. */
const exempt = ["test/kit/wait.ts", "test/kit/reference.ts", "test/kit/pace.ts", "test/kit/campaign/", "test/kit/jest/", "test/kit/run.ts"]

/** A comment above a pause says why it is none of these: nothing is waited for, or real time is what is tested. */
const reason = /^\s*\/\/ (?:Not a wait|In real time|Timers fire|The vendors take their time)/

const pauses = /\b(?:await|race\(\[)\s*(?:sleep|pause|setTimeout)\(|\bsetTimeout\(resolve\b/
const clocks = /expect\([^;]*\b(?:performance|Date)\.now\(\)|\b(?:while|for) \([^{]*\b(?:performance|Date)\.now\(\)[^{]*\) (?:await|\{)/

export const testsWaitForEvents: Rule = {
  teaches:
    "A test waits with until() or happens() of test/kit/wait.ts, and judges times with pace(): it neither sleeps nor fails because time passed. A pause that is no wait says so in a comment above it (test/kit/waiting-rule.ts).",
  finds: ({ path, text }) => {
    if (!path.startsWith("test/") || !path.endsWith(".ts") || exempt.some((place) => path.startsWith(place))) return []
    const lines = text.split("\n")
    return lines.flatMap((line, index) => {
      const code = codeOf(line)
      if (clocks.test(code)) return [`${index + 1} judges the time of a clock`]
      return pauses.test(code) && !lines.slice(Math.max(0, index - 2), index).some((each) => reason.test(each))
        ? [`${index + 1} sleeps`]
        : []
    })
  },
}
