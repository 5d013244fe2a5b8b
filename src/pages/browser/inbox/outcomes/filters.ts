/** Which stretches a list shows, as the query of its address says. A name that is missing excludes nothing; `none` is for stretches without one. */
export interface StretchFilter {
  /** Words of `StretchOutcome`, separated by commas. */
  outcome?: string
  /** `true` or `false`: whether AI stopped answering. */
  handed?: string
  reopened?: string
  /** `true`: with a rating. */
  rated?: string
  /** As the server's filters have them: an ID, or a word of REST. */
  assistant?: string
  person?: string
  messenger?: string
  reason?: string
}

/** Outcomes of stretches that AI, and that people answered. */
export const answeredByAi = "AI_ALONE,AI_THEN_PERSON"
export const answeredByPeople = "AI_THEN_PERSON,PERSON_ALONE"

const names = [
  "outcome",
  "handed",
  "reopened",
  "rated",
  "assistant",
  "person",
  "messenger",
  "reason",
] as const satisfies (keyof StretchFilter)[]

/** The filter of an address. */
export function filterOf(query: URLSearchParams): StretchFilter {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])))
}

/** What an address is changed by so that it names a filter, and no other. */
export const inAddress = (filter: StretchFilter): Record<string, string> => ({
  ...Object.fromEntries(names.map((name) => [name, ""])),
  ...filter,
})

const escaped = (value: string) => value.replace(/[;,\\]/g, "\\$&")
const idOf = (value: string) => (value === "none" ? "null" : escaped(value))

/** How each name is a condition of the server. */
const conditionOf: Record<keyof StretchFilter, (value: string) => string> = {
  outcome: (value) => `outcome:in:${value.split(",").map(escaped).join(",")}`,
  handed: (value) => `isHandedOff:eq:${escaped(value)}`,
  reopened: (value) => `reopened:eq:${escaped(value)}`,
  rated: () => "rating:gte:1",
  assistant: (value) => `assistantId:eq:${idOf(value)}`,
  person: (value) => `personId:eq:${idOf(value)}`,
  messenger: (value) => `messenger:eq:${escaped(value)}`,
  reason: (value) => (value === "none" ? "isHandedOff:eq:false" : `handOffReason:eq:${escaped(value)}`),
}

/** The filter in the server's words: of the stretches that have ended, as reports count them. */
export const serverFilter = (filter: StretchFilter): string =>
  ["isEnded:eq:true", ...names.flatMap((name) => (filter[name] ? [conditionOf[name](filter[name])] : []))].join(";")
