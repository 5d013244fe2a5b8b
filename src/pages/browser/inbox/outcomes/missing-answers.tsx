import { Link } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { useRead } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { t } from "../kit/words.js"
import { missingAnswersQuery, type Report } from "./operations.js"
import { addressOf } from "./period.js"
import { usePeriod } from "./place.js"

const sumOf = (counts: readonly { count: number }[]) => counts.reduce((sum, { count }) => sum + count, 0)

/** What customers asked and the knowledge did not say, most often first, with the way to add the answers; nothing where there is no such question. */
export function MissingAnswers({ report: { before, from, to } }: { report: Report }) {
  const { companyId } = usePlace()
  const { to: linkTo } = useAddress()
  const { choice } = usePeriod()
  const { data, instead, isReading } = useRead(missingAnswersQuery, { companyId, before, from, to, first: inboxLimits.questionsCounted })
  if (!data) return isReading ? null : instead
  if (data.current.nodes.length === 0) return null
  const counts = new Map(data.before.nodes.map(({ id, count }) => [id, count]))
  const values = { count: sumOf(data.current.nodes), before: sumOf(data.before.nodes) }
  return (
    <section aria-label={t("What the knowledge does not say")} className="causes">
      <h2>{t("What the knowledge does not say")}</h2>
      <p>{t("Questions to which the assistant found no answer: {count}, in the period before {before}. Asked most often:", values)}</p>
      <ol>
        {data.current.nodes.slice(0, inboxLimits.questionsShown).map(({ id, question, count, closedAt }) => (
          <li key={id}>
            <bdi>{question}</bdi> ({t("asked: {count}, before: {before}", { count, before: counts.get(id) ?? 0 })})
            {closedAt !== null && <span className="hint"> · {t("off the list")}</span>}
          </li>
        ))}
      </ol>
      <Link href={linkTo("/outcomes/questions", addressOf(choice))}>{t("Add the answers")}</Link>
    </section>
  )
}
