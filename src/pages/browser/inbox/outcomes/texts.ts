import { exactFormat, locale, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import type { Change } from "./arithmetic.js"

/** Shares are shown to a tenth of a percent, ratings to a tenth. */
export const steps = { share: 0.001, rating: 0.1, count: 1, time: 1 } as const

const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 })
const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })

/** What stands for a number that does not exist. */
export const missing = "–"

export const shareText = (share: number | null): string => (share === null ? missing : percent.format(share))
export const numberText = (number: number | null): string => (number === null ? missing : decimal.format(number))
/** A difference of shares, in percentage points. */
export const pointsText = (share: number): string => decimal.format(share * 100)

const units = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
  ["second", 1],
] as const
const unitText = (value: number, unit: string, digits = 0) =>
  new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits }).format(value)

/** A time in the two largest units that it has. */
export function timeText(ms: number | null): string {
  if (ms === null) return missing
  const seconds = Math.round(ms / 1000)
  if (seconds < 10) return unitText(ms / 1000, "second", 1)
  const first = units.findIndex(([, size]) => seconds >= size)
  const [unit, size] = units[first]!
  const [smaller, part] = units[first + 1] ?? [null, 1]
  const rest = Math.floor((seconds % size) / part)
  return unitText(Math.floor(seconds / size), unit) + (smaller && rest > 0 ? ` ${unitText(rest, smaller)}` : "")
}

const day = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "numeric", month: "short" })
const weekday = new Intl.DateTimeFormat(locale, { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" })
const wholeDay = new Intl.DateTimeFormat(locale, { timeZone: "UTC", dateStyle: "medium" })
const midnight = (text: string) => new Date(`${text}T00:00:00Z`)

/** A day of the calendar: short for an axis, with its weekday for a row. */
export const dayText = (text: string): string => day.format(midnight(text))
export const weekdayText = (text: string): string => weekday.format(midnight(text))
/** The days of a period. */
export const daysText = (first: string, last: string): string =>
  first === last ? wholeDay.format(midnight(first)) : wholeDay.formatRange(midnight(first), midnight(last))

/** A time by the clock of a zone. */
export const timeIn = (zone: string, at: string): string => exactFormat(zone).format(new Date(at))

/** The arrow of a change, which its words say too. */
export const arrows = { up: "↑", down: "↓", same: "→" } as const satisfies Record<Change["direction"], string>

/** Who answered. */
export function outcomeText(outcome: string): string {
  const texts: Record<string, string> = {
    AI_ALONE: t("AI alone"),
    AI_THEN_PERSON: t("AI, then a person"),
    PERSON_ALONE: t("People alone"),
    UNANSWERED: t("Nobody"),
  }
  return texts[outcome] ?? wordOf(outcome)
}

/** Why AI stopped answering, of a word of REST or of GraphQL; null when it did not. */
export function reasonText(reason: string | null): string {
  if (reason === null) return t("No hand-off")
  const texts: Record<string, string> = {
    ASSISTANT: t("The assistant handed over"),
    FAILURE: t("An error: the assistant gave no answer"),
    GUARDRAIL: t("A guardrail stopped a text"),
    PERSON: t("A person took over"),
    INTEGRATION: t("An integration turned AI off"),
    REMOVED: t("The assistant was deleted"),
  }
  return texts[reason.toUpperCase()] ?? reason
}

/** What a rule of the guardrails looks for. */
export function ruleText(rule: string): string {
  const texts: Record<string, string> = {
    CARD: t("Card number"),
    IBAN: t("IBAN"),
    EMAIL: t("E-mail address"),
    PHONE: t("Telephone number"),
    WORDS: t("Own words and patterns"),
    LINKS: t("Foreign link"),
    SOURCES: t("No source"),
    LENGTH: t("Too long"),
    SCOPE: t("Out of scope"),
  }
  return texts[rule] ?? wordOf(rule)
}

/** What happened to a text that a rule hit. */
export function actionText(action: string): string {
  const texts: Record<string, string> = { LOG: t("Noted"), MASK: t("Masked"), BLOCK: t("Stopped") }
  return texts[action] ?? wordOf(action)
}

/** A channel by REST's word for it, such as `telegram-bot`. */
export const channelText = (messenger: string): string => wordOf(messenger.toUpperCase().replaceAll("-", "_"))

/** The name of an assistant in a group of a report. */
export const assistantText = ({ key, name }: { key: string | null; name: string | null }): string =>
  name ?? (key === null ? t("No assistant") : t("A deleted assistant"))
