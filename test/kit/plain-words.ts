import { codeOf, type Rule } from "./house-rules.js"

/** Words that a reader of this project would have to decode, in comments, strings and names. */
const words: [pattern: RegExp, write: string][] = [
  [/\b[dD]oors?\b|\b[a-z]\w*Doors?\b/g, "handler, client, protocol, or request context"],
  [/\breceptions?\b/gi, "request contexts"],
  [/\bfurnish\w*/gi, "fixtures"],
  [/\bcast(?:ing)?\b(?! to\b| as\b|\()/gi, "fixtures"],
  [/\b(?:open)?stages?\b/gi, "test server"],
  [/\barenas?\b/gi, "benchmark context"],
  [/\b\w*settle\w*/gi, "end, finish, store, or the outcome's own verb"],
  [/\banew\b/gi, "again, or a new one"],
  [/\bwhoever\b/gi, "the one who"],
  [/\b(?:comes?|came|becomes?|became) of\b/gi, "result, outcome"],
  [/\bclockworks?\b|\b\w*Clockwork\b/gi, "job scheduler"],
  [/\bOutside[A-Z]\w*/g, "GuardedHttpClient"],
]

/** Names of variables, parameters, properties, functions and types; as words of a sentence they are fine. */
const names: [pattern: RegExp, write: string][] = [
  [/\bviewers?\b|\bViewer\b/g, "context"],
  [/\bwithin\b/g, "tx, or what the function does"],
  [/\bsteps: true\b/g, 'transaction: "manual"'],
  [/\b[oO]utside\b/g, "client, httpClient"],
  [/\bwish(?:es)?\b|\b\w*Wish(?:es)?\b/g, "options, settings"],
  [/\b(?:lots|matter|asks)\b/g, "samples, parameters, requests"],
]

/** What contains such a word and is meant, each with its reason. */
const meant: [pattern: RegExp, reason: string][] = [
  [/\ballSettled\b|\bPromiseSettledResult\b/g, "JavaScript's own names"],
  [/\bpromise\b[^.;\n]{0,40}\bsettled\b/gi, "the term for a promise that is fulfilled or rejected"],
  [/\btype cast\b|::\w+ cast\b/gi, "conversions of types"],
  [/\bmulti-stage build|\bbuild stage\b|\bstage of the image\b/gi, "Docker's term"],
]

/** Folders and files that the rule covers. */
const cleaned = ["src/", "docs/", "test/", "faults/", "hostile/", "simulate/", "eval/", "bench/", "scripts/", "README.md"]
/** The rule itself and its test have to name the words; the texts of fixtures are prose of an invented shop. */
const exempt = ["test/kit/plain-words.ts", "test/repository/plain-words.test.ts", "test/fixtures/"]

const blank = (text: string, patterns: RegExp[]) => patterns.reduce((left, pattern) => left.replace(pattern, ""), text)
const literals = /`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|(?<=[(=,:]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/gs
const found = (text: string, patterns: [RegExp, string][]) =>
  patterns.flatMap(([pattern, write]) => [...new Set([...text.matchAll(pattern)].map(([word]) => `has "${word}"; write: ${write}`))])

export const wordsArePlain: Rule = {
  teaches:
    "Write plain technical English with the field's terms and no metaphors; a word that is meant is listed in test/kit/plain-words.ts.",
  finds: ({ path, text }) => {
    const isIn = (place: string) => path.startsWith(place)
    if (!cleaned.some(isIn) || exempt.some(isIn) || !/\.(ts|js|html|md)$/.test(path)) return []
    const rest = blank(
      text,
      meant.map(([pattern]) => pattern),
    )
    return [...found(rest, words), ...(/\.tsx?$/.test(path) ? found(codeOf(rest).replace(literals, '""'), names) : [])]
  },
}
