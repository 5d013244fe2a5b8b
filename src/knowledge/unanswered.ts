import { type RawBuilder, sql } from "kysely"
import type { RequestContext } from "../context/request-context.js"
import { nodesOf } from "../context/selection.js"
import type { PlainRow, Selection } from "../database/read-model.js"
import { runQuery } from "../database/run-query.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { NotFound } from "../errors.js"
import { assistantReadModel } from "../schema/assistant.js"
import { connectionOfRows, pageSize } from "../schema/kit/page.js"
import { cursorValues, type Paging } from "../schema/kit/paging.js"
import { askedQuestionReadModel } from "../schema/unanswered-question.js"
import { knowledgeLimits } from "./limits.js"

/** The arguments of the list of unanswered questions. */
export interface UnansweredArguments {
  companyId?: string | null
  assistantId?: string | null
  from?: Date | null
  to?: Date | null
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

/** Questions of a period to which the search found nothing and that nobody has closed, grouped, those that were asked most often first. */
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

/** The open questions of the period as the CTE `grouped`. */
function groupsOf(context: RequestContext, { companyId, assistantId, from, to }: UnansweredArguments): RawBuilder<unknown> {
  const since = from ?? new Date((to ?? clock.now()).getTime() - knowledgeLimits.questionsDefaultDays * dayMs)
  let asked = context.reader.scoped(askedQuestionReadModel, context.reach(companyId)).where("t.closed_at", "is", null)
  asked = asked.where("t.asked_at", ">=", since.toISOString())
  if (to) asked = asked.where("t.asked_at", "<", to.toISOString())
  if (assistantId) asked = asked.where("t.assistant_id", "=", assistantId)
  const columns = asked.select(["t.id", "t.group_id", "t.company_id", "t.assistant_id", "t.asked_at"])
  return sql`with asked as (${columns}), grouped as (
    select coalesce(group_id, id) as id, company_id as "companyId", assistant_id as "assistantId", count(*)::integer as count,
      min(asked_at) as "firstAskedAt", max(asked_at) as "lastAskedAt", (array_agg(id order by asked_at, id))[1] as first,
      (array_agg(id order by asked_at desc, id desc))[1:${sql.lit(knowledgeLimits.questionsShown)}] as newest
    from asked group by 1, 2, 3
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

const close: Statement<{ known: number; closed: number }> = {
  name: "close-unanswered-question",
  text: `
    with known as (
      select id, company_id from asked_question where (group_id = $1 or id = $1) and company_id = any($2::uuid[])
    ), closed as (
      update asked_question q set closed_at = $3, updated_at = $3 from known
      where q.id = known.id and q.company_id = known.company_id and q.closed_at is null returning 1
    )
    select (select count(*) from known)::integer as known, (select count(*) from closed)::integer as closed`,
}

/** Closes the questions of a group; those that are asked later are listed again. */
export async function closeQuestion(context: RequestContext, id: string): Promise<{ closed: number }> {
  const [{ known, closed } = { known: 0, closed: 0 }] = await context.run(close, [id, context.companyIds, clock.now()])
  if (known === 0) throw new NotFound("Unanswered question")
  return { closed }
}
