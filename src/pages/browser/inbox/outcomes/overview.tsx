import { lazy, type ReactNode, Suspense, useEffect, useState } from "react"
import { useAddress, usePlace } from "../kit/company.js"
import { useEnded } from "../kit/ended.js"
import { useRead } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { t } from "../kit/words.js"
import { BreakdownTables } from "./breakdowns.js"
import { Causes } from "./causes.js"
import { MissingAnswers } from "./missing-answers.js"
import { NumberCards, OutcomeCounts } from "./number-cards.js"
import { breakdownsQuery, outcomesQuery, type Report } from "./operations.js"
import { daysBetween } from "./period.js"
import { usePeriod, variablesOf } from "./place.js"

// The library that draws is needed here alone.
const Course = lazy(() => import("./course.js"))

/** The numbers of the period, their course, and what they consist of. */
export function Overview() {
  const { companyId } = usePlace()
  const { query, path, go } = useAddress()
  const { period } = usePeriod()
  const ended = useEnded()
  const days = daysBetween(period.first, period.last)
  const hasWeeks = days > 7
  const usual = days > inboxLimits.daysOfDayChart ? "WEEK" : "DAY"
  const chosen = (["WEEK", "DAY"] as const).find((name) => name === query.get("by"))
  const by = hasWeeks ? (chosen ?? usual) : "DAY"
  const variables = { companyId, timeZone: period.zone, ...variablesOf(period) }
  const report = useRead(outcomesQuery, { ...variables, by })
  const breakdowns = useRead(breakdownsQuery, variables)
  function again() {
    ended.seen()
    report.again()
    breakdowns.again()
  }
  const { data, instead } = report
  if (!data) return <Waiting isReading={report.isReading}>{instead}</Waiting>
  return (
    <>
      <p role="status" className="fresh">
        {ended.count > 0 && (
          <>
            {t("Conversations that ended since: {count}", { count: ended.count })}{" "}
            <button type="button" onClick={again}>
              {t("Read again")}
            </button>
          </>
        )}
      </p>
      {data.outcomes.total.current.stretches === 0 ? (
        <Nothing report={data.outcomes} isNew={data.stretches.nodes.length === 0} />
      ) : (
        <>
          <NumberCards report={data.outcomes} />
          {breakdowns.data && <Causes report={data.outcomes} breakdowns={breakdowns.data} />}
          <MissingAnswers report={data.outcomes} />
          <OutcomeCounts report={data.outcomes} />
          <Suspense fallback={<p className="hint">{t("Reading …")}</p>}>
            <Course groups={data.outcomes.groups} by={by} hasWeeks={hasWeeks} choose={(value) => go(path, { by: value })} />
          </Suspense>
          {breakdowns.data ? (
            <BreakdownTables breakdowns={breakdowns.data} />
          ) : (
            <Waiting isReading={breakdowns.isReading}>{breakdowns.instead}</Waiting>
          )}
        </>
      )}
    </>
  )
}

/** What stands in the place of a report that is being read, or could not be; one that takes long says why. */
function Waiting({ isReading, children }: { isReading: boolean; children: ReactNode }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), inboxLimits.slowReportMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div aria-busy={isReading} aria-live="polite">
      {children}
      {isLong && isReading && <p className="hint">{t("Many conversations are being counted. This may take some seconds.")}</p>}
    </div>
  )
}

/** Shown for a period in which no stretch that has ended began. */
function Nothing({ report, isNew }: { report: Report; isNew: boolean }) {
  const { choice, choose } = usePeriod()
  return (
    <div className="nothing">
      <p>
        {isNew
          ? t("There was no conversation yet. A conversation begins with a customer’s message.")
          : t("No conversation that began in this period has ended.")}
      </p>
      <p>{t("A conversation counts when it has ended: usually a day after its last message.")}</p>
      {choice.preset === "last-week" && (
        <button type="button" onClick={() => choose({ preset: "this-week" })}>
          {t("Show this week")}
        </button>
      )}
      {report.total.before.stretches > 0 && <p>{t("In the period before: {count}", { count: report.total.before.stretches })}</p>}
    </div>
  )
}
