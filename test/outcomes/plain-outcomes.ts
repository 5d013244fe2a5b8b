import type { GroupBy } from "../../src/schema/outcome.js"

/** A stretch as REST shows it, with what a report counts. */
export interface ShownStretch {
  id: string
  startedAt: string
  endedAt: string | null
  outcome: string | null
  reopened: boolean
  messenger: string
  assistantId: string | null
  personId: string | null
  handOffReason: string | null
  handedOffAt: string | null
  firstAnswerMs: { ai: number | null; people: number | null }
  rating: number | null
  inputTokens: number
  outputTokens: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The day of a time in a time zone, YYYY-MM-DD. */
export function dayIn(timeZone: string, at: string): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })
  formats.set(timeZone, format)
  return format.format(new Date(at))
}

/** The Monday of the week of a day. */
function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}

const keys: Record<GroupBy, (stretch: ShownStretch, timeZone: string) => string | null> = {
  DAY: ({ startedAt }, timeZone) => dayIn(timeZone, startedAt),
  WEEK: ({ startedAt }, timeZone) => mondayOf(dayIn(timeZone, startedAt)),
  ASSISTANT: ({ assistantId }) => assistantId,
  MESSENGER: ({ messenger }) => messenger,
  PERSON: ({ personId }) => personId,
  HANDOFF_REASON: ({ handOffReason }) => handOffReason,
}

/** The value at a share of the sorted values, by nearest rank, rounded. */
function percentile(values: (number | null)[], at: number, round: (ms: number) => number): number | null {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other)
  return sorted.length === 0 ? null : round(sorted[Math.ceil(sorted.length * at) - 1]!)
}

/** A time as kept sums have it: of 24 values in each decade, with two digits. */
function rounded(ms: number): number {
  if (ms < 10) return ms
  return Number((10 ** (Math.round(24 * Math.log10(ms)) / 24)).toPrecision(2))
}

/** The numbers of a report, summed over the rows. */
export function plainNumbers(stretches: ShownStretch[], isRounded: boolean) {
  const ended = stretches.filter(({ endedAt }) => endedAt !== null)
  const count = (holds: (stretch: ShownStretch) => boolean) => ended.filter(holds).length
  const of = (name: string) => count(({ outcome }) => outcome === name)
  const [aiAlone, aiThenPerson, personAlone] = [of("AI_ALONE"), of("AI_THEN_PERSON"), of("PERSON_ALONE")]
  const [reopened, handedOff] = [count((stretch) => stretch.reopened), count(({ handedOffAt }) => handedOffAt !== null)]
  const answered = aiAlone + aiThenPerson + personAlone
  const ratings = ended.flatMap(({ rating }) => rating ?? [])
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  const share = (part: number, whole: number) => (whole > 0 ? part / whole : null)
  const round = isRounded ? rounded : (ms: number) => ms
  const [ai, people] = [ended.map(({ firstAnswerMs }) => firstAnswerMs.ai), ended.map(({ firstAnswerMs }) => firstAnswerMs.people)]
  return {
    ...{ stretches: ended.length, aiAlone, aiThenPerson, personAlone, unanswered: of("UNANSWERED"), reopened, handedOff },
    containment: share(aiAlone, answered),
    durableContainment: share(aiAlone - reopened, answered),
    handOffRate: share(handedOff, ended.length),
    firstAnswerMs: {
      ai: { p50: percentile(ai, 0.5, round), p95: percentile(ai, 0.95, round) },
      people: { p50: percentile(people, 0.5, round), p95: percentile(people, 0.95, round) },
    },
    ...{ ratings: ratings.length, rating: share(sum(ratings), ratings.length) },
    inputTokens: sum(ended.map(({ inputTokens }) => inputTokens)),
    outputTokens: sum(ended.map(({ outputTokens }) => outputTokens)),
  }
}

/** The groups of a report with an ended stretch, by their keys. */
export function plainGroups(stretches: ShownStretch[], by: GroupBy, timeZone: string, isRounded: boolean) {
  const groups = new Map<string | null, ShownStretch[]>()
  for (const stretch of stretches.filter(({ endedAt }) => endedAt !== null)) {
    const key = keys[by](stretch, timeZone)
    groups.set(key, [...(groups.get(key) ?? []), stretch])
  }
  return new Map([...groups].map(([key, members]) => [key, plainNumbers(members, isRounded)]))
}
