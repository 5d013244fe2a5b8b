import { sql } from "kysely"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Narrow, ReadModel } from "../database/read-model.js"
import { runQuery } from "../database/run-query.js"
import type { EntityName } from "../database/tables.js"
import { oncePer } from "../once-per.js"
import { FairSlots } from "../ports/kit/fair-slots.js"
import { assistantReadModel } from "../schema/assistant.js"
import { userReadModel } from "../schema/company.js"
import type { Condition } from "../schema/kit/filter.js"
import { narrowedBy } from "../schema/kit/filter-sql.js"
import type { GroupBy, OutcomeComparison, OutcomeGroup, OutcomeNumbers, Outcomes } from "../schema/outcome.js"
import { stretchFilterFields } from "../schema/stretch-filter.js"
import { askForSums } from "./keep.js"
import { canUseSums } from "./kept-rows.js"
import { outcomeLimits } from "./limits.js"
import { type Period, periodOf, timeZoneOf } from "./period.js"
import { reportSql, type SumsRow } from "./report-sql.js"

/** The arguments of a report. */
export interface ReportArguments {
  companyId: string
  from?: Date | null
  to?: Date | null
  timeZone: string
  by: GroupBy
  conditions: Condition[]
}

/** A report without kept sums reads for seconds: reports leave most database connections to other requests. */
const reportSlots = oncePer((_services: Services) => new FairSlots(outcomeLimits.reportsAtOnce))

/** Makes a report over the ended stretches of a period and of the one before. */
export async function outcomesOf(context: RequestContext, given: ReportArguments): Promise<Outcomes> {
  const { companyId, by } = given
  const period = await periodOf(context, { ...given, timeZone: timeZoneOf(given.timeZone) })
  // Only ended stretches are counted, and the kept sums have no other.
  const conditions = given.conditions.filter(({ field }) => field !== "isEnded")
  const isEmpty = given.conditions.some(({ field, values }) => field === "isEnded" && values[0] === false)
  const ofEnded: Narrow<EntityName> = narrowedBy(stretchFilterFields, conditions)
  const matching: Narrow<EntityName> = (query) => (isEmpty ? ofEnded(query).where(sql<boolean>`false`) : ofEnded(query))
  const fields = conditions.map(({ field }) => field)
  const usesSums = canUseSums(fields)
  const query = reportSql(context.reader, { ...period, companyId, by, matching, fields, usesSums })
  const compiled = query.compile(context.reader.sql)
  const rows = await reportSlots(context.services).run(companyId, () => runQuery<SumsRow>(context.reader, compiled))
  const [current, before] = [rows.filter((row) => row.is_current), rows.filter((row) => !row.is_current)]
  const totals = [totalOf(current)!, totalOf(before)!]
  const needsSums = totals.reduce((sum, { read: count }) => sum + Number(count), 0) > outcomeLimits.stretchesReadAtOnce
  // After the response, which does not depend on it.
  if (usesSums && (needsSums || totals.some((total) => total.uses_sums)))
    void context.services.running.add(askForSums(context.services, companyId, period.timeZone))
  const groups = by === "DAY" || by === "WEEK" ? spanned(period, current, before) : named(period, current, before)
  return { ...period, by, total: compared(current, before), groups: await withNames(context, by, groups) }
}

const totalOf = (rows: SumsRow[]) => rows.find((row) => Number(row.is_total) === 1)

const compared = (current: SumsRow[], before: SumsRow[]): OutcomeComparison => {
  const [now, then] = [current, before].map((rows) => numbersOf(totalOf(rows)))
  return { current: now!, before: then! }
}

/** Days or weeks; each is compared with the one at the same place in the period before. */
const spanned = ({ spans, spansBefore }: Period, current: SumsRow[], before: SumsRow[]): OutcomeGroup[] => {
  const [now, then] = [byKey(current), byKey(before)]
  return spans.map(({ key, from, to }, index) => ({
    ...{ key, name: null, from, to, current: numbersOf(now.get(key)) },
    before: numbersOf(then.get(spansBefore[index]?.key ?? "")),
  }))
}

const byKey = (rows: SumsRow[]) => new Map(rows.filter((row) => Number(row.is_total) === 0).map((row) => [row.group, row]))

/** Groups by their names, those with the most stretches first. */
function named({ from, to }: Period, current: SumsRow[], before: SumsRow[]): OutcomeGroup[] {
  const [now, then] = [byKey(current), byKey(before)]
  return [...new Set([...now.keys(), ...then.keys()])]
    .map((key) => ({ key, name: null, from, to, current: numbersOf(now.get(key)), before: numbersOf(then.get(key)) }))
    .sort((one, other) => other.current.stretches - one.current.stretches || String(one.key).localeCompare(String(other.key)))
}

const share = (part: number, of: number) => (of > 0 ? part / of : null)

function numbersOf(row: SumsRow | undefined): OutcomeNumbers {
  const number = (value: string | undefined) => Number(value ?? 0)
  const [aiAlone, aiThenPerson, personAlone] = [number(row?.ai_alone), number(row?.ai_then_person), number(row?.person_alone)]
  const [stretches, reopened, handedOff] = [number(row?.stretches), number(row?.reopened), number(row?.handed_off)]
  const [rating, ratings] = [number(row?.rating), number(row?.ratings)]
  const answered = aiAlone + aiThenPerson + personAlone
  return {
    ...{ stretches, aiAlone, aiThenPerson, personAlone, unanswered: number(row?.unanswered), reopened, handedOff, ratings },
    containment: share(aiAlone, answered),
    durableContainment: share(aiAlone - reopened, answered),
    handOffRate: share(handedOff, stretches),
    firstAnswerMs: {
      ai: { p50: row?.ai_p50 ?? null, p95: row?.ai_p95 ?? null },
      people: { p50: row?.people_p50 ?? null, p95: row?.people_p95 ?? null },
    },
    rating: share(rating, ratings),
    ...{ inputTokens: number(row?.input_tokens), outputTokens: number(row?.output_tokens) },
  }
}

/** Adds the names of assistants and people. */
async function withNames({ reader }: RequestContext, by: GroupBy, groups: OutcomeGroup[]): Promise<OutcomeGroup[]> {
  const model = by === "ASSISTANT" ? assistantReadModel : by === "PERSON" ? userReadModel : null
  if (!model) return groups
  const ids = groups.flatMap(({ key }) => key ?? [])
  const found = await reader.byIds(model as ReadModel, ids, { name: {} })
  return groups.map((group) => ({ ...group, name: (group.key && (found.get(group.key)?.["name"] as string | undefined)) || null }))
}
