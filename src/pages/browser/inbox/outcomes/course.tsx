import { useState } from "react"
import { Table } from "../kit/forms.js"
import { t } from "../kit/words.js"
import { Chart } from "./chart.js"
import type { StretchFilter } from "./filters.js"
import type { OutcomeGroup } from "./operations.js"
import { addDays } from "./period.js"
import { Rows, usePeriod } from "./place.js"
import { dayText, numberText, shareText, weekdayText } from "./texts.js"

interface Props {
  /** Days or weeks in their order. */
  groups: readonly OutcomeGroup[]
  by: "DAY" | "WEEK"
  /** Whether the period is longer than a week. */
  hasWeeks: boolean
  choose(by: "DAY" | "WEEK"): void
}

/** The numbers over time: a chart, and the table of what it shows. */
export default function Course({ groups, by, hasWeeks, choose }: Props) {
  const [at, setAt] = useState<number | null>(null)
  const shown = at === null ? undefined : groups[at]
  const choice = (value: "DAY" | "WEEK", text: string) => (
    <button type="button" aria-pressed={by === value} onClick={() => choose(value)}>
      {text}
    </button>
  )
  return (
    <section aria-label={t("Over time")}>
      <h2>{t("Over time")}</h2>
      {hasWeeks && (
        <p className="line buttons">
          {choice("DAY", t("By day"))}
          {choice("WEEK", t("By week"))}
        </p>
      )}
      <ul className="legend">
        <li data-line="containment">{t("Containment")}</li>
        <li data-line="hand-off">{t("Hand-off rate")}</li>
        <li data-line="count">{t("Conversations, on the right")}</li>
      </ul>
      <Chart
        groups={groups}
        pointed={setAt}
        label={t("Chart of containment, hand-off rate and number of conversations; the table below has its numbers.")}
      />
      <p className="hint pointed">{shown ? sentenceOf(shown, by) : t("Point at the chart to see the numbers of a day or week.")}</p>
      <details>
        <summary>{t("Numbers of the chart")}</summary>
        <Table columns={[by === "DAY" ? t("Day") : t("Week from"), t("Conversations"), t("Containment"), t("Hand-off rate")]}>
          {groups.map((group) => (
            <Row key={group.key} group={group} by={by} />
          ))}
        </Table>
      </details>
    </section>
  )
}

const nameOf = ({ key }: OutcomeGroup, by: Props["by"]) => (by === "DAY" ? weekdayText(key!) : dayText(key!))

const sentenceOf = (group: OutcomeGroup, by: Props["by"]) =>
  t("{day}: containment {containment}, hand-off rate {rate}, conversations: {count}", {
    day: nameOf(group, by),
    containment: shareText(group.current.containment),
    rate: shareText(group.current.handOffRate),
    count: numberText(group.current.stretches),
  })

function Row({ group, by }: { group: OutcomeGroup; by: Props["by"] }) {
  const { period } = usePeriod()
  const { stretches, containment, handOffRate } = group.current
  const name = nameOf(group, by)
  // The first and the last week may be cut by the period.
  const first = group.key! < period.first ? period.first : group.key!
  const end = by === "DAY" ? group.key! : addDays(group.key!, 6)
  const last = end > period.last ? period.last : end
  const cell = (value: number | null, text: string, what: string, filter: StretchFilter) => (
    <td>
      {value ? (
        <Rows filter={filter} of={{ first, last }} name={`${name}: ${what}`}>
          {text}
        </Rows>
      ) : (
        text
      )}
    </td>
  )
  return (
    <tr>
      <th scope="row">{name}</th>
      {cell(stretches, numberText(stretches), t("Conversations"), {})}
      {cell(containment, shareText(containment), t("Containment"), { outcome: "AI_ALONE" })}
      {cell(handOffRate, shareText(handOffRate), t("Hand-off rate"), { handed: "true" })}
    </tr>
  )
}
