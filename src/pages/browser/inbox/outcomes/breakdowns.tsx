import { Table } from "../kit/forms.js"
import { t } from "../kit/words.js"
import { changeOf } from "./arithmetic.js"
import { answeredByAi, answeredByPeople, type StretchFilter } from "./filters.js"
import type { Breakdowns, OutcomeGroup } from "./operations.js"
import { type Period, periodBefore } from "./period.js"
import { Rows, usePeriod } from "./place.js"
import { arrows, assistantText, channelText, missing, numberText, pointsText, reasonText, shareText, steps, timeText } from "./texts.js"

interface Kind {
  title: string
  groups: readonly OutcomeGroup[]
  nameOf(group: OutcomeGroup): string
  filter: "assistant" | "messenger" | "person" | "reason"
  /** Whether the share of AI means anything: what AI handed over was not answered by it alone. */
  hasContainment: boolean
}

const kinds = ({ assistants, channels, people, reasons }: Breakdowns): Kind[] => [
  {
    title: t("By reason of the hand-off"),
    groups: reasons.groups,
    nameOf: ({ key }) => reasonText(key),
    filter: "reason",
    hasContainment: false,
  },
  {
    title: t("By assistant"),
    groups: assistants.groups,
    nameOf: assistantText,
    filter: "assistant",
    hasContainment: true,
  },
  { title: t("By channel"), groups: channels.groups, nameOf: ({ key }) => channelText(key!), filter: "messenger", hasContainment: true },
  {
    title: t("By person"),
    groups: people.groups,
    nameOf: ({ key, name }) => name ?? (key === null ? t("Nobody, or not known") : t("A person who is gone")),
    filter: "person",
    hasContainment: true,
  },
]

/** The numbers by what can be compared, the groups with the most conversations first. */
export const BreakdownTables = ({ breakdowns }: { breakdowns: Breakdowns }) =>
  kinds(breakdowns).map((kind) => (
    <section key={kind.filter} aria-label={kind.title} className="breakdown">
      <h2>{kind.title}</h2>
      <Table
        columns={[
          t("Name"),
          t("Conversations"),
          t("AI alone"),
          t("Hand-offs"),
          ...(kind.hasContainment ? [t("Containment")] : []),
          t("First answer of AI"),
          t("First answer of people"),
        ]}
      >
        {kind.groups.map((group) => (
          <Row key={group.key} kind={kind} group={group} />
        ))}
      </Table>
    </section>
  ))

/** A group with its numbers, each of which opens its stretches. */
function Row({ kind, group }: { kind: Kind; group: OutcomeGroup }) {
  const { period } = usePeriod()
  const { current, before } = group
  const name = kind.nameOf(group)
  const opened = (text: string, what: string, filter: StretchFilter, of?: Period) => (
    <Rows filter={{ [kind.filter]: group.key ?? "none", ...filter }} of={of} name={`${name}: ${what}`}>
      {text}
    </Rows>
  )
  const count = (value: number, valueBefore: number, what: string, filter: StretchFilter) => (
    <td>
      {value > 0 ? opened(numberText(value), what, filter) : value}{" "}
      <span className="hint">
        (
        {valueBefore > 0
          ? opened(numberText(valueBefore), t("{name}, in the period before", { name: what }), filter, periodBefore(period))
          : valueBefore}
        )
      </span>
    </td>
  )
  const time = (ms: number | null, what: string, outcome: string) => (
    <td>{ms === null ? missing : opened(timeText(ms), what, { outcome })}</td>
  )
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      {count(current.stretches, before.stretches, t("Conversations"), {})}
      {count(current.aiAlone, before.aiAlone, t("AI alone"), { outcome: "AI_ALONE" })}
      {count(current.handedOff, before.handedOff, t("Hand-offs"), { handed: "true" })}
      {kind.hasContainment && (
        <td>
          {current.containment
            ? opened(shareText(current.containment), t("Containment"), { outcome: "AI_ALONE" })
            : shareText(current.containment)}{" "}
          <Points current={current.containment} before={before.containment} />
        </td>
      )}
      {time(current.firstAnswerMs.ai.p50, t("First answer of AI"), answeredByAi)}
      {time(current.firstAnswerMs.people.p50, t("First answer of people"), answeredByPeople)}
    </tr>
  )
}

/** The change of a share, shortly. */
function Points({ current, before }: { current: number | null; before: number | null }) {
  const change = changeOf(current, before, steps.share)
  if (!change) return before === null ? null : <span className="hint">({t("before: {before}", { before: shareText(before) })})</span>
  if (change.direction === "same") return null
  const points = t("{points} points", { points: pointsText(change.difference) })
  return (
    <span className="hint">
      ({arrows[change.direction]} {points})
    </span>
  )
}
