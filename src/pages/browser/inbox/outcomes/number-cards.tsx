import { inboxLimits } from "../kit/limits.js"
import { t } from "../kit/words.js"
import { answeredOf, changeOf } from "./arithmetic.js"
import { answeredByAi, answeredByPeople, type StretchFilter } from "./filters.js"
import type { Numbers, Report } from "./operations.js"
import { periodBefore } from "./period.js"
import { Rows, usePeriod } from "./place.js"
import { arrows, missing, numberText, outcomeText, pointsText, shareText, steps, timeText } from "./texts.js"

interface Card {
  title: string
  /** What the number is. */
  meaning: string
  valueOf(numbers: Numbers): number | null
  kind: "share" | "time" | "rating"
  /** Whether more of it is what a company wants. */
  isGood: boolean
  filter: StretchFilter
  detail(numbers: Numbers): string
}

const cards = (): Card[] => [
  {
    title: t("Containment"),
    meaning: t("Answered by AI alone, of all that were answered"),
    valueOf: ({ containment }) => containment,
    kind: "share",
    isGood: true,
    filter: { outcome: "AI_ALONE" },
    detail: (numbers) => t("{count} of {of} conversations", { count: numbers.aiAlone, of: answeredOf(numbers) }),
  },
  {
    title: t("Durable containment"),
    meaning: t("The same, without those whose customer wrote again within 72 hours"),
    valueOf: ({ durableContainment }) => durableContainment,
    kind: "share",
    isGood: true,
    filter: { outcome: "AI_ALONE", reopened: "false" },
    detail: (numbers) => t("{count} of {of} conversations", { count: numbers.aiAlone - numbers.reopened, of: answeredOf(numbers) }),
  },
  {
    title: t("Hand-off rate"),
    meaning: t("Conversations in which AI stopped answering"),
    valueOf: ({ handOffRate }) => handOffRate,
    kind: "share",
    isGood: false,
    filter: { handed: "true" },
    detail: ({ handedOff, stretches }) => t("{count} of {of} conversations", { count: handedOff, of: stretches }),
  },
  {
    title: t("First answer of AI"),
    meaning: t("Half of the customers waited no longer"),
    valueOf: ({ firstAnswerMs }) => firstAnswerMs.ai.p50,
    kind: "time",
    isGood: false,
    filter: { outcome: answeredByAi },
    detail: ({ firstAnswerMs }) => t("95 of 100 at most {time}", { time: timeText(firstAnswerMs.ai.p95) }),
  },
  {
    title: t("First answer of people"),
    meaning: t("Half of the customers waited no longer"),
    valueOf: ({ firstAnswerMs }) => firstAnswerMs.people.p50,
    kind: "time",
    isGood: false,
    filter: { outcome: answeredByPeople },
    detail: ({ firstAnswerMs }) => t("95 of 100 at most {time}", { time: timeText(firstAnswerMs.people.p95) }),
  },
  {
    title: t("Rating"),
    meaning: t("What customers gave, from 1 to 5"),
    valueOf: ({ rating }) => rating,
    kind: "rating",
    isGood: true,
    filter: { rated: "true" },
    detail: ({ ratings }) => (ratings > 0 ? t("Ratings: {count}", { count: ratings }) : t("No customer has rated.")),
  },
]

const textOf = (kind: Card["kind"], value: number | null) =>
  kind === "share" ? shareText(value) : kind === "time" ? timeText(value) : numberText(value)

/** The six numbers, each with its change against the period before. */
export function NumberCards({ report: { total } }: { report: Report }) {
  return (
    <ul className="numbers" aria-label={t("Numbers")}>
      {cards().map((card) => {
        const value = card.valueOf(total.current)
        return (
          <li key={card.title} className="card">
            <h2>{card.title}</h2>
            <p className="value">
              {value === null ? (
                missing
              ) : (
                <Rows filter={card.filter} name={card.title}>
                  {textOf(card.kind, value)}
                </Rows>
              )}
            </p>
            <p>{card.detail(total.current)}</p>
            <ChangeLine card={card} current={value} before={card.valueOf(total.before)} />
            <p className="hint">{card.meaning}</p>
          </li>
        )
      })}
    </ul>
  )
}

/** How a number differs from the one of the period before: by an arrow, in words, and whether that is better. */
function ChangeLine({ card: { kind, isGood }, current, before }: { card: Card; current: number | null; before: number | null }) {
  const change = changeOf(current, before, steps[kind])
  if (!change)
    return (
      <p className="change">{before === null ? t("None in the period before") : t("Before: {before}", { before: textOf(kind, before) })}</p>
    )
  const { direction, difference } = change
  if (direction === "same")
    return (
      <p className="change">
        {arrows.same} {t("As in the period before")}
      </p>
    )
  const isBetter = (direction === "up") === isGood
  // The first answer of another day is some seconds faster or slower by chance.
  const isSmall = kind === "time" && difference < before! * inboxLimits.leastTimeChange
  const by = kind === "share" ? t("{points} points", { points: pointsText(difference) }) : textOf(kind, difference)
  const values = { by, before: textOf(kind, before) }
  return (
    <p className="change" data-better={isSmall ? undefined : isBetter}>
      {arrows[direction]}{" "}
      {direction === "up" ? t("{by} more than before ({before})", values) : t("{by} less than before ({before})", values)}
      {!isSmall && `, ${isBetter ? t("better") : t("worse")}`}
    </p>
  )
}

const outcomes = [
  ["AI_ALONE", ({ aiAlone }: Numbers) => aiAlone],
  ["AI_THEN_PERSON", ({ aiThenPerson }: Numbers) => aiThenPerson],
  ["PERSON_ALONE", ({ personAlone }: Numbers) => personAlone],
  ["UNANSWERED", ({ unanswered }: Numbers) => unanswered],
] as const

/** How many conversations there were, by who answered. */
export function OutcomeCounts({ report: { total } }: { report: Report }) {
  const { period } = usePeriod()
  const before = periodBefore(period)
  const entry = (name: string, filter: StretchFilter, count: (numbers: Numbers) => number) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>
        <Rows filter={filter} name={name}>
          {count(total.current)}
        </Rows>{" "}
        <span className="hint">
          (
          <Rows filter={filter} of={before} name={t("{name}, in the period before", { name })}>
            {count(total.before)}
          </Rows>
          )
        </span>
      </dd>
    </div>
  )
  return (
    <section aria-label={t("Who answered")}>
      <h2>{t("Who answered")}</h2>
      <dl className="counts">
        {entry(t("All"), {}, ({ stretches }) => stretches)}
        {outcomes.map(([outcome, count]) => entry(outcomeText(outcome), { outcome }, count))}
      </dl>
      <p className="hint">
        {t("In brackets: the period before. A conversation counts when it has ended: usually a day after its last message.")}
      </p>
    </section>
  )
}
