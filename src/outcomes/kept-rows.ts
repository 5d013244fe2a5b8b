import { type RawBuilder, sql } from "kysely"
import type { Query } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import { type OutcomeDimension, outcomeDimensions } from "../entities/outcome-dimension.js"
import {
  type GroupBy,
  outcomeDimensionSumReadModel,
  outcomeDimensionTimeReadModel,
  outcomeMonthSumReadModel,
  outcomeSumReadModel,
} from "../schema/outcome.js"

/** What kept sums can be narrowed or grouped by. */
type KeptBy = Exclude<OutcomeDimension, "ALL"> | "REOPENED"

/** By what each filterable field narrows; a field that is not here is not in kept sums. */
const keptFields: Record<string, KeptBy> = {
  assistantId: "ASSISTANT",
  personId: "PERSON",
  messenger: "MESSENGER",
  outcome: "OUTCOME",
  handOffReason: "HANDOFF_REASON",
  isHandedOff: "HANDOFF_REASON",
  reopened: "REOPENED",
}

/** Whether kept sums can answer conditions on these fields. */
export const canUseSums = (fields: string[]) => fields.every((field) => field in keptFields)

/** Columns that the sums by one dimension have in any case; the times have none. */
const alwaysOfSums: KeptBy[] = ["OUTCOME", "HANDOFF_REASON", "REOPENED"]

/**
 * Kept sums and times of a company: from the small tables by one dimension when the report needs no other. Sums by all dimensions have the times in
 * arrays, so that `times` is null; groups of more than days are read from those of months too.
 */
export function keptQueries(reader: Reader, companyId: string, by: GroupBy, fields: string[]) {
  const isByTime = by === "DAY" || by === "WEEK"
  const needed = [...new Set([...(isByTime ? [] : [by]), ...fields.flatMap((field) => keptFields[field] ?? [])])]
  const ofTimes = dimensionOf(needed)
  if (!ofTimes) {
    const months = isByTime ? null : (reader.scoped(outcomeMonthSumReadModel, [companyId]) as unknown as Query<"OutcomeSum", unknown>)
    return { sums: reader.scoped(outcomeSumReadModel, [companyId]), times: null, months }
  }
  const ofSums = dimensionOf(needed.filter((each) => !alwaysOfSums.includes(each)))
  const sums = reader.scoped(outcomeDimensionSumReadModel, [companyId]).where(sql<boolean>`t.dimension = ${ofSums}`)
  return {
    sums: sums as unknown as Query<"OutcomeSum", unknown>,
    times: reader.scoped(outcomeDimensionTimeReadModel, [companyId]).where(sql<boolean>`t.dimension = ${ofTimes}`),
    months: null,
  }
}

/** The dimension whose rows suffice; null when only the rows by all of them do. */
function dimensionOf(needed: KeptBy[]): OutcomeDimension | null {
  if (needed.length === 0) return "ALL"
  return needed.length === 1 ? (outcomeDimensions.find((each) => each === needed[0]) ?? null) : null
}

/** Columns of a group, of stretches and of kept sums. */
interface GroupColumn {
  ofStretch: RawBuilder<string>
  ofSum: RawBuilder<string>
}

/** The column that a report groups by. */
export const groupColumns: Record<GroupBy, (timeZone: string) => GroupColumn> = {
  DAY: (zone) => ({ ofStretch: sql`(t.started_at at time zone ${zone}::text)::date`, ofSum: sql`t.day` }),
  WEEK: (zone) => ({
    ofStretch: sql`date_trunc('week', t.started_at at time zone ${zone}::text)::date`,
    // 2001 began with a Monday. Arithmetic of days costs a fraction of date_trunc() or extract().
    ofSum: sql`t.day - (t.day - date '2001-01-01') % 7`,
  }),
  ASSISTANT: () => column("assistant_id"),
  MESSENGER: () => column("messenger"),
  PERSON: () => column("person_id"),
  HANDOFF_REASON: () => column("hand_off_reason"),
}

function column(name: string): GroupColumn {
  const reference = sql<string>`${sql.ref(`t.${name}`)}`
  return { ofStretch: reference, ofSum: reference }
}
