import { inboxLimits } from "../kit/limits.js"
import { t } from "../kit/words.js"
import { answeredOf, byPeopleOf, type Contribution, changeOf, lowered, ofHandOffs, ofParts } from "./arithmetic.js"
import { answeredByPeople, type StretchFilter } from "./filters.js"
import type { Breakdowns, Numbers, Report } from "./operations.js"
import { Rows } from "./place.js"
import { assistantText, channelText, pointsText, reasonText, shareText, steps } from "./texts.js"

type Part = Contribution<Numbers>

interface Cause {
  key: string
  share: number
  /** What changed, in words. */
  text: string
  filter: StretchFilter
}

const countsOf = ({ group: { current, before } }: Part) =>
  t("{count} of {of}, before {countBefore} of {ofBefore}", {
    count: byPeopleOf(current),
    of: answeredOf(current),
    countBefore: byPeopleOf(before),
    ofBefore: answeredOf(before),
  })

/** Why people answered: one kind of cause, whose parts add up to the change. */
function ofReason(part: Part, report: Report): Cause {
  const { key, current, before } = part.group
  const values = { count: byPeopleOf(current), of: answeredOf(report.total.current), countBefore: byPeopleOf(before) }
  const counts = t("{count} of {of}, before {countBefore} of {ofBefore}", { ...values, ofBefore: answeredOf(report.total.before) })
  const filter = { reason: key ?? "none", outcome: answeredByPeople }
  const name = key === null ? t("A person wrote without a hand-off") : reasonText(key)
  return { key: `reason ${key}`, share: part.share, text: `${name}: ${counts}`, filter }
}

/** One assistant or channel among several: another kind, which adds up to the change as well. */
function ofGroup(part: Part, kind: "assistant" | "messenger", name: string): Cause {
  const { key, current, before } = part.group
  const values = { name, share: shareText(current.containment), before: shareText(before.containment) }
  const filter = { [kind]: key ?? "none", outcome: answeredByPeople }
  const text = `${t("{name}: containment {share}, before {before}", values)}. ${t("Answered by people: {counts}", { counts: countsOf(part) })}`
  return { key: `${kind} ${key}`, share: part.share, text, filter }
}

/** What lowered containment most, of what the breakdowns have. */
function causesOf(report: Report, { reasons, assistants, channels }: Breakdowns): Cause[] {
  const { total } = report
  const notable = ({ group: { current, before } }: Part) =>
    Math.max(byPeopleOf(current), byPeopleOf(before)) >= inboxLimits.leastConversations
  const several = (groups: Breakdowns["channels"]["groups"]) => (groups.length > 1 ? ofParts(total, groups) : [])
  return [
    ...ofHandOffs(total, reasons.groups)
      .filter(notable)
      .map((part) => ofReason(part, report)),
    ...several(assistants.groups)
      .filter(notable)
      .map((part) => ofGroup(part, "assistant", assistantText(part.group))),
    ...several(channels.groups)
      .filter(notable)
      .map((part) => ofGroup(part, "messenger", channelText(part.group.key!))),
  ]
}

/** Where containment fell: what contributed to it, without a guess at why. */
export function Causes({ report, breakdowns }: { report: Report; breakdowns: Breakdowns }) {
  const { current, before } = report.total
  const change = changeOf(current.containment, before.containment, steps.share)
  if (change?.direction !== "down") return null
  const causes = lowered(causesOf(report, breakdowns), inboxLimits.leastChange, inboxLimits.changesShown)
  const values = { points: pointsText(change.difference), before: shareText(before.containment), now: shareText(current.containment) }
  return (
    <section aria-label={t("What lowered containment")} className="causes">
      <h2>{t("What lowered containment")}</h2>
      <p>{t("Containment fell by {points} points, from {before} to {now}. What contributed most:", values)}</p>
      <ol>
        {causes.map(({ key, share, text, filter }) => (
          <li key={key}>
            <Rows filter={filter} name={text}>
              {t("−{points} points", { points: pointsText(-share) })}
            </Rows>{" "}
            {text}
          </li>
        ))}
      </ol>
      <p className="hint">
        {t(
          "Counted are the answered conversations. The parts of one kind (reasons of hand-offs, assistants, channels) add up to the change, with those that raised it.",
        )}
      </p>
    </section>
  )
}
