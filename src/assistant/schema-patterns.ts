import { createRequire } from "node:module"
import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp"
import { assistantLimits } from "./limits.js"

type Analysis = typeof import("recheck/lib/browser.js").default

let analysis: Analysis | undefined

/** Loads the analysis of patterns, which takes a while and some 50 MB. */
export function loadAnalysis() {
  if (analysis) return
  // Required, because the loader for TypeScript gives an import of it no default export.
  analysis = createRequire(import.meta.url)("recheck/lib/browser.js") as Analysis
  // The first analysis is slow: it runs before the time of a task is limited.
  analysis.checkSync("^(a|b+)+$", "u", { timeout: null })
}

/** Whether a schema, as JSON, has a pattern that has to be analysed. */
export function needsAnalysis(params: string): boolean {
  const patterns: string[] = []
  JSON.parse(params, (key, value) => {
    if (key === "pattern" && typeof value === "string") patterns.push(value)
    if (key === "patternProperties" && value && typeof value === "object") patterns.push(...Object.keys(value))
    return value
  })
  return patterns.some(repeatsChoice)
}

/**
 * Whether a pattern may take a time that is exponential in the length of the text. One that the analysis cannot decide in time is accepted,
 * since each check of arguments has a time limit too.
 */
export function isExponential(pattern: string): boolean {
  if (!repeatsChoice(pattern)) return false
  const found = analysis!.checkSync(pattern, "u", { timeout: assistantLimits.schemaPatternMs })
  return found.status === "vulnerable" && found.complexity.type === "exponential"
}

/**
 * Whether a pattern repeats something that can match in several ways. Without that it is never exponential: of a repetition whose content has
 * one way to match, a text has one partition. Spares most patterns the analysis, which is slow for some.
 */
function repeatsChoice(pattern: string): boolean {
  const ast = parsed(pattern)
  if (!ast) return false
  let [repetitions, found] = [0, false]
  const choice = () => {
    if (repetitions > 0) found = true
  }
  const isGroupWithChoice = ({ alternatives }: { alternatives: AST.Alternative[] }) => void (alternatives.length > 1 && choice())
  visitRegExpAST(ast, {
    onQuantifierEnter({ min, max }) {
      if (min !== max) choice()
      if (max > 1) repetitions += 1
    },
    onQuantifierLeave({ max }) {
      if (max > 1) repetitions -= 1
    },
    onGroupEnter: isGroupWithChoice,
    onCapturingGroupEnter: isGroupWithChoice,
    onAssertionEnter: (assertion) => void ("alternatives" in assertion && isGroupWithChoice(assertion)),
    onBackreferenceEnter: choice,
  })
  return found
}

/** The syntax tree of a pattern; null for one that is no regular expression, which is refused with the schema. */
function parsed(pattern: string): AST.Pattern | null {
  try {
    return new RegExpParser().parsePattern(pattern, 0, pattern.length, { unicode: true })
  } catch {
    return null
  }
}
