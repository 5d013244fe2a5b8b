import type { Language } from "../kit/words.js"
import { type Phrases, phrases } from "./offline-phrases.js"
import { toolTitle } from "./offline-tools.js"

/** Longest part of a tool's response that is quoted to a customer, in characters. */
const LONGEST = 600

/** Summarizes a tool's response in one sentence: its own text if any, otherwise its fields; a failure is reported without details. */
export function resultSentence(name: string, output: unknown, language: Language): string {
  const say: Phrases = phrases[language]
  const title = toolTitle(name)
  const value = unwrapped(output)
  if (failed(output) || failed(value)) return say.failed(title)
  const own = spoken(value)
  if (own) return shortened(own)
  const fields = leaves(value).slice(0, 8)
  return fields.length ? `${shortened(`${title}: ${fields.join(", ")}`)}.` : say.done(title)
}

/** Parses a search result as knowledge: a list, or an object with a list in `data`, of strings or of objects with `content`. */
export function searchResults(output: unknown): { name: string; content: string }[] {
  const value = parsed(output)
  const list = Array.isArray(value) ? value : isRecord(value) ? (value.data ?? value.results ?? value.nodes) : null
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    if (typeof entry === "string") return [{ name: "", content: entry }]
    if (!isRecord(entry) || typeof entry.content !== "string") return []
    return [{ name: typeof entry.knowledgeName === "string" ? entry.knowledgeName : "", content: entry.content }]
  })
}

const isRecord = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === "object" && !Array.isArray(value)

function parsed(output: unknown): unknown {
  if (typeof output !== "string" || !/^\s*[[{"]/.test(output)) return output
  try {
    return JSON.parse(output)
  } catch {
    return output
  }
}

// The integrator's response may be wrapped with status and latency.
function unwrapped(output: unknown): unknown {
  const value = parsed(output)
  if (!isRecord(value)) return value
  for (const key of ["body", "data", "result", "output", "response"]) {
    const inner = value[key]
    if (inner !== undefined && inner !== null && (typeof inner === "object" || "success" in value || Object.keys(value).length === 1))
      return unwrapped(inner)
  }
  return value
}

function failed(output: unknown): boolean {
  const value = parsed(output)
  return isRecord(value) && (Boolean(value.error) || value.success === false || value.ok === false)
}

function spoken(value: unknown): string | null {
  if (typeof value === "string") return value.trim().includes(" ") ? sentence(value) : null
  if (!isRecord(value)) return null
  const words = [value.message, value.text, value.answer, value.summary, value.description].find(
    (one) => typeof one === "string" && one.trim(),
  )
  return words === undefined ? null : sentence(words as string)
}

const sentence = (text: string) =>
  text
    .trim()
    .replace(/\s+/g, " ")
    .replace(/(?<=[\p{L}\p{N}])$/u, ".")

function leaves(value: unknown, path = ""): string[] {
  if (value === null || value === undefined || value === "") return []
  if (typeof value !== "object") return [path ? `${path}: ${value}` : String(value)]
  const entries: [string, unknown][] = Array.isArray(value) ? value.map((entry) => ["", entry]) : Object.entries(value)
  return entries.flatMap(([key, inner]) => leaves(inner, [path, toolTitle(key).toLowerCase()].filter(Boolean).join(" ")))
}

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text)
