import { v7 } from "uuid"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { knowledgeLimits } from "./limits.js"
import { cosineSimilarity } from "./similarity.js"

/** A question that is in no group. */
export interface UngroupedQuestion {
  id: string
  company_id: string
  assistant_id: string
  question: string
}

/** Two instances do not make two groups of the same questions. */
const lockAssistant: Statement = {
  name: "lock-question-groups",
  text: "select pg_advisory_xact_lock(hashtextextended('question-groups/' || $1::uuid::text, 0)) where $2::uuid = any($3::uuid[])",
}

const newestGroups: Statement<{ id: string; vector: number[] }> = {
  name: "newest-question-groups",
  text: `
    select id, vector from question_group
    where company_id = $2 and company_id = any($3::uuid[]) and assistant_id = $1 and embedding_id = $4 and cardinality(vector) = $5
    order by created_at desc, id desc limit $6`,
}

const addGroups: Statement = {
  name: "add-question-groups",
  text: `
    insert into question_group (id, created_at, updated_at, company_id, assistant_id, embedding_id, vector)
    select (each ->> 'id')::uuid, $4, $4, $2, $1, $5, array(select value::real from jsonb_array_elements_text(each -> 'vector') with ordinality v (value, place) order by place)
    from jsonb_array_elements($6::jsonb) each where $2::uuid = any($3::uuid[])`,
}

const assign: Statement = {
  name: "assign-question-groups",
  text: `
    update asked_question q set group_id = given.group_id from unnest($3::uuid[], $4::uuid[]) as given (id, group_id)
    where q.id = given.id and q.company_id = $1 and q.company_id = any($2::uuid[]) and q.group_id is null`,
}

interface Group {
  id: string
  vector: Float32Array
}

/** Puts questions of an assistant, in the order in which they were asked, into the groups whose first question is close; or begins new ones. */
export async function groupQuestions(services: Services, questions: UngroupedQuestion[]): Promise<void> {
  const { embedding, stopping } = services
  const { company_id: companyId, assistant_id: assistantId } = questions[0]!
  const vectors = await embedding.embed(
    questions.map(({ question }) => question),
    stopping,
  )
  await systemContext(services, companyId).transaction(async (tx) => {
    await tx.run(lockAssistant, [assistantId, companyId, tx.companyIds])
    const groups = await groupsOf(tx, assistantId, companyId, vectors[0]!.length)
    const added: Group[] = []
    const groupIds = vectors.map((vector) => {
      const known = closest([...groups, ...added], vector, embedding.sameFrom)
      if (known) return known.id
      const group = { id: v7(), vector }
      added.push(group)
      return group.id
    })
    const now = clock.now()
    const made = JSON.stringify(added.map(({ id, vector }) => ({ id, vector: [...vector] })))
    if (added.length > 0) await tx.run(addGroups, [assistantId, companyId, tx.companyIds, now, embedding.id, made])
    await tx.run(assign, [companyId, tx.companyIds, questions.map(({ id }) => id), groupIds])
  })
}

async function groupsOf(tx: RequestContext, assistantId: string, companyId: string, size: number): Promise<Group[]> {
  const { id } = tx.services.embedding
  const rows = await tx.run(newestGroups, [assistantId, companyId, tx.companyIds, id, size, knowledgeLimits.questionGroupsCompared])
  return rows.map((row) => ({ id: row.id, vector: Float32Array.from(row.vector) }))
}

/** The group whose vector is closest, if it is close enough. */
function closest(groups: Group[], vector: Float32Array, from: number): Group | null {
  let best: Group | null = null
  let most = from
  for (const group of groups) {
    const similarity = cosineSimilarity(vector, group.vector, 0)
    if (similarity < most) continue
    best = group
    most = similarity
  }
  return best
}
