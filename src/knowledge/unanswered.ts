import { type RawBuilder, sql } from "kysely"
import type { RequestContext } from "../context/request-context.js"
import { nodesOf } from "../context/selection.js"
import type { PlainRow, Selection } from "../database/read-model.js"
import { runQuery } from "../database/run-query.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { NotFound } from "../errors/errors.js"
import { assistantReadModel } from "../schema/assistant.js"
import { connectionOfRows, pageSize } from "../schema/kit/page.js"
import { cursorValues, type Paging } from "../schema/kit/paging.js"
import { askedQuestionReadModel, type QuestionState } from "../schema/unanswered-question.js"
import { knowledgeLimits } from "./limits.js"

/** The arguments of the list of unanswered questions. */
export interface UnansweredArguments {
  companyId?: string | null
  assistantId?: string | null
  from?: Date | null
  to?: Date | null
  state?: QuestionState | null
  first?: number | null
  after?: string | null
}

interface GroupRow extends PlainRow {
  id: string
  companyId: string
  assistantId: string
  count: number
  firstAskedAt: string
  lastAskedAt: string
  closedAt: string | null
  first: string
  newest: string[]
}

const dayMs = 24 * 60 * 60 * 1000

const pagingOf = ({ first, after }: UnansweredArguments): Paging => ({
  list: "unansweredQuestions",
  keys: [
    { property: "count", column: "count", type: "integer" },
    { property: "lastAskedAt", column: "lastAskedAt", type: "timestamptz" },
    { property: "id", column: "id", type: "uuid" },
  ],
  descending: true,
  size: pageSize(first, knowledgeLimits.questionsPage),
  after,
  skip: null,
})

/** Questions of a period to which the search found nothing, grouped, those that were asked most often first; by default those that nobody has closed. */
export async function unansweredQuestions(context: RequestContext, given: UnansweredArguments, selection: Selection) {
  const { reader } = context
  const paging = pagingOf(given)
  const start = cursorValues(paging)
  const groups = groupsOf(context, given)
  const before = start && sql`where (count, "lastAskedAt", id) < (${start[0]}::integer, ${start[1]}::timestamptz, ${start[2]}::uuid)`
  const page = sql<GroupRow>`${groups} select * from grouped ${before ?? sql``} order by count desc, "lastAskedAt" desc, id desc limit ${paging.size + 1}`
  const [rows, counted] = await Promise.all([
    runQuery<GroupRow>(reader, page.compile(reader.sql)),
    selection["totalCount"] ? runQuery<{ total: number }>(reader, totalOf(groups).compile(reader.sql)) : [],
  ])
  await addQuestions(context, rows.slice(0, paging.size), nodesOf(selection))
  return connectionOfRows(paging, rows, selection, counted[0]?.total)
}

const totalOf = (groups: RawBuilder<unknown>) => sql<{ total: number }>`${groups} select count(*)::integer as total from grouped`

/** The questions of the period as the CTE `grouped`. */
function groupsOf(context: RequestContext, { companyId, assistantId, from, to, state }: UnansweredArguments): RawBuilder<unknown> {
  const since = from ?? new Date((to ?? clock.now()).getTime() - knowledgeLimits.questionsDefaultDays * dayMs)
  let asked = context.reader.scoped(askedQuestionReadModel, context.reach(companyId))
  if (!state || state === "OPEN") asked = asked.where("t.closed_at", "is", null)
  asked = asked.where("t.asked_at", ">=", since.toISOString())
  if (to) asked = asked.where("t.asked_at", "<", to.toISOString())
  if (assistantId) asked = asked.where("t.assistant_id", "=", assistantId)
  const columns = asked.select(["t.id", "t.group_id", "t.company_id", "t.assistant_id", "t.asked_at", "t.closed_at"])
  return sql`with asked as (${columns}), grouped as (
    select coalesce(group_id, id) as id, company_id as "companyId", assistant_id as "assistantId", count(*)::integer as count,
      min(asked_at) as "firstAskedAt", max(asked_at) as "lastAskedAt",
      case when bool_and(closed_at is not null) then max(closed_at) end as "closedAt", (array_agg(id order by asked_at, id))[1] as first,
      (array_agg(id order by asked_at desc, id desc))[1:${sql.lit(knowledgeLimits.questionsShown)}] as newest
    from asked group by 1, 2, 3 ${state === "CLOSED" ? sql`having bool_and(closed_at is not null)` : sql``}
  )`
}

/** Adds the texts of the questions, and the assistants. */
async function addQuestions({ reader }: RequestContext, rows: GroupRow[], selection: Selection): Promise<void> {
  const [firsts, asked, assistants] = await Promise.all([
    reader.byIds(
      askedQuestionReadModel,
      rows.map(({ first }) => first),
      { question: {} },
    ),
    selection["asked"] &&
      reader.byIds(
        askedQuestionReadModel,
        rows.flatMap(({ newest }) => newest),
        selection["asked"],
      ),
    selection["assistant"] &&
      reader.byIds(
        assistantReadModel,
        rows.map(({ assistantId }) => assistantId),
        selection["assistant"],
      ),
  ])
  for (const row of rows) {
    row["question"] = firsts.get(row.first)?.question
    row["asked"] = row.newest.flatMap((id) => asked?.get(id) ?? [])
    row["assistant"] = assistants?.get(row.assistantId)
  }
}

/** Changes the questions of the unanswered question `$1` of the companies `$2`, those that are `before`, at the time `$3`. */
const changes = (name: string, before: string, closedAt: string): Statement<{ known: number; changed: number }> => ({
  name,
  text: `
    with known as (
      select id, company_id from asked_question where (group_id = $1 or id = $1) and company_id = any($2::uuid[])
    ), changed as (
      update asked_question q set closed_at = ${closedAt}, updated_at = $3 from known
      where q.id = known.id and q.company_id = known.company_id and q.closed_at ${before} returning 1
    )
    select (select count(*) from known)::integer as known, (select count(*) from changed)::integer as changed`,
})
const close = changes("close-unanswered-question", "is null", "$3")
const reopen = changes("reopen-unanswered-question", "is not null", "null")

/** Changes the questions of a group; returns how many were not so before. */
async function change(context: RequestContext, statement: typeof close, id: string): Promise<number> {
  const [{ known, changed } = { known: 0, changed: 0 }] = await context.run(statement, [id, context.companyIds, clock.now()])
  if (known === 0) throw new NotFound("Unanswered question")
  return changed
}

/** Closes the questions of a group; those that are asked later are listed again. */
export const closeQuestion = async (context: RequestContext, id: string) => ({ closed: await change(context, close, id) })

/** Opens the questions of a group again, whenever they were closed. */
export const reopenQuestion = async (context: RequestContext, id: string) => ({ reopened: await change(context, reopen, id) })
