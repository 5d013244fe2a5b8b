import { Table } from "../kit/forms.js"
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
  /** Whether enough conversations are of it to be named among the largest. */
  isNotable: boolean
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

/** Causes that add up to the change. */
interface Kind {
  title: string
  causes: Cause[]
}

const isNotable = ({ group: { current, before } }: Part) =>
  Math.max(byPeopleOf(current), byPeopleOf(before)) >= inboxLimits.leastConversations

/** Why people answered: one kind of cause, whose parts add up to the change. */
function ofReason(part: Part, report: Report): Cause {
  const { key, current, before } = part.group
  const values = { count: byPeopleOf(current), of: answeredOf(report.total.current), countBefore: byPeopleOf(before) }
  const counts = t("{count} of {of}, before {countBefore} of {ofBefore}", { ...values, ofBefore: answeredOf(report.total.before) })
  const filter = { reason: key ?? "none", outcome: answeredByPeople }
  const name = key === null ? t("A person wrote without a hand-off") : reasonText(key)
  return { key: `reason ${key}`, isNotable: isNotable(part), share: part.share, text: `${name}: ${counts}`, filter }
}

/** One assistant or channel among several: another kind, which adds up to the change as well. */
function ofGroup(part: Part, kind: "assistant" | "messenger", name: string): Cause {
  const { key, current, before } = part.group
  const values = { name, share: shareText(current.containment), before: shareText(before.containment) }
  const filter = { [kind]: key ?? "none", outcome: answeredByPeople }
  const text = `${t("{name}: containment {share}, before {before}", values)}. ${t("Answered by people: {counts}", { counts: countsOf(part) })}`
  return { key: `${kind} ${key}`, isNotable: isNotable(part), share: part.share, text, filter }
}

/** What the change consists of, by each kind that the breakdowns have. */
function kindsOf(report: Report, { reasons, assistants, channels }: Breakdowns): Kind[] {
  const ofGroups = ({ groups }: Breakdowns["channels"], kind: "assistant" | "messenger", nameOf: (group: Part["group"]) => string) =>
    groups.length > 1 ? ofParts(report.total, groups).map((part) => ofGroup(part, kind, nameOf(part.group))) : []
  const kinds = [
    { title: t("Reasons of hand-offs"), causes: ofHandOffs(report.total, reasons.groups).map((part) => ofReason(part, report)) },
    { title: t("Assistants"), causes: ofGroups(assistants, "assistant", assistantText) },
    { title: t("Channels"), causes: ofGroups(channels, "messenger", ({ key }) => channelText(key!)) },
  ]
  return kinds.filter(({ causes }) => causes.length > 0)
}

/** Where containment fell: what contributed to it, without a guess at why. */
export function Causes({ report, breakdowns }: { report: Report; breakdowns: Breakdowns }) {
  const { current, before } = report.total
  const change = changeOf(current.containment, before.containment, steps.share)
  if (change?.direction !== "down") return null
  const kinds = kindsOf(report, breakdowns)
  const notable = kinds.flatMap(({ causes }) => causes.filter(({ isNotable }) => isNotable))
  const values = { points: pointsText(change.difference), before: shareText(before.containment), now: shareText(current.containment) }
  return (
    <section aria-label={t("What lowered containment")} className="causes">
      <h2>{t("What lowered containment")}</h2>
      <p>{t("Containment fell by {points} points, from {before} to {now}. What contributed most:", values)}</p>
      <ol>
        {lowered(notable, inboxLimits.leastChange, inboxLimits.changesShown).map(({ key, share, text, filter }) => (
          <li key={key}>
            <Rows filter={filter} name={text}>
              {signedPoints(share)}
            </Rows>{" "}
            {text}
          </li>
        ))}
      </ol>
      <details>
        <summary>{t("All parts of the change")}</summary>
        <p className="hint">
          {t("Counted are the answered conversations. The parts of each table add up to the change; each is rounded.")}
        </p>
        {kinds.map((kind) => (
          <Parts key={kind.title} kind={kind} />
        ))}
      </details>
    </section>
  )
}

const signedPoints = (share: number) =>
  share < 0 ? t("−{points} points", { points: pointsText(-share) }) : t("+{points} points", { points: pointsText(share) })

/** All causes of a kind, those that raised containment too, with their sum. */
function Parts({ kind: { title, causes } }: { kind: Kind }) {
  const sum = causes.reduce((total, { share }) => total + share, 0)
  return (
    <Table columns={[title, t("Part of the change")]}>
      {causes
        .toSorted((one, other) => one.share - other.share)
        .map(({ key, share, text, filter }) => (
          <tr key={key}>
            <th scope="row">{text}</th>
            <td>
              <Rows filter={filter} name={text}>
                {signedPoints(share)}
              </Rows>
            </td>
          </tr>
        ))}
      <tr>
        <th scope="row">{t("Together")}</th>
        <td>{signedPoints(sum)}</td>
      </tr>
    </Table>
  )
}
