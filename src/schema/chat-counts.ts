import { type RawBuilder, sql } from "kysely"
import { readModel } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import { type ChatDimension, chatDimensions } from "../entities/chat-count.js"
import type { Condition } from "./kit/filter.js"
import type { SizedList } from "./kit/page.js"

const sums = readModel("ChatCount")
const changes = readModel("ChatCountChange")
const taggings = readModel("ChatTagging")

/** Conditions that limit every kept number, with their columns. */
const facts: Record<string, string> = {
  unread: "is_unread",
  needsAttention: "needs_attention",
  isUnderAiControl: "is_under_ai_control",
}

/** The dimensions of kept numbers by the conditions on them. */
const dimensions: Record<string, ChatDimension> = { messenger: "messenger", folderId: "folder", managerId: "manager", tagIds: "tag" }

/**
 * Returns how the chats that meet all conditions are counted: from the kept numbers, if the conditions are facts and at most one dimension, or
 * from the index of taggings, if they are several tags or tags of a messenger. Null for other conditions, which need the chats.
 */
function countOf(conditions: Condition[]): Pick<SizedList<"Chat">, "matching" | "isKept"> | null {
  const fields = new Set(conditions.map(({ field }) => field).filter((field) => !Object.hasOwn(facts, field)))
  if (![...fields].every((field) => Object.hasOwn(dimensions, field))) return null
  const tags = conditions.filter(({ field }) => field === "tagIds")
  // A chat counts once for each of its tags, so that numbers of several tags do not add up.
  const isKept = fields.size <= 1 && tags.every(({ values }) => values.length === 1) && tags.length <= 1
  if (isKept) return { isKept, matching: (reader, companyIds) => addUp(reader, companyIds, conditions, [...fields][0]) }
  const isOfTaggings = tags.length === 1 && !fields.has("folderId") && !fields.has("managerId")
  return isOfTaggings ? { isKept, matching: (reader, companyIds) => countTaggings(reader, companyIds, conditions) } : null
}

/** Whether a condition has an index of its own that gives its chats by recency. */
const isWalked = ({ field, values }: Condition) =>
  (field === "unread" && values[0]) || (field === "needsAttention" && values[0]) || (field === "isUnderAiControl" && !values[0])

/** Returns how many chats a list has, and how many its index has; null when counting them needs the chats. */
export function sizedList(conditions: Condition[]): SizedList<"Chat"> | null {
  const count = countOf(conditions)
  if (!count) return null
  const ofIndex = conditions.filter(isWalked).slice(0, 1)
  const isTagged = conditions.some(({ field }) => field === "tagIds")
  const tagged = isTagged && sql<boolean>`exists (select 1 from chat_tagging g where g.chat_id = t.id and ${ofTaggings(conditions, "g")})`
  return {
    ...count,
    walked: (reader, companyIds) => addUp(reader, companyIds, ofIndex, undefined),
    gathered: tagged ? (query) => query.where(tagged) : null,
  }
}

/** Limits kept numbers, or taggings, to the facts of conditions, and to what else they say, by `other`. */
const limited = (conditions: Condition[], alias: string, other: (condition: Condition) => RawBuilder<boolean>): RawBuilder<boolean> =>
  sql<boolean>`${sql.join([sql`true`, ...conditions.map((each) => factOf(each, alias) ?? other(each))], sql` and `)}`

const factOf = ({ field, values }: Condition, alias: string) =>
  Object.hasOwn(facts, field) ? sql<boolean>`${sql.ref(`${alias}.${facts[field]}`)} = ${values[0]}` : null

/** The conditions on chats as those on their taggings. */
const ofTaggings = (conditions: Condition[], alias: string) =>
  limited(conditions, alias, ({ field, values }) =>
    field === "tagIds"
      ? sql`${sql.ref(`${alias}.tag_id`)} = any(${values}::uuid[])`
      : sql`${sql.ref(`${alias}.messenger`)} = any(${values}::text[])`,
  )

async function addUp(reader: Reader, companyIds: string[], conditions: Condition[], field: string | undefined): Promise<number> {
  const name = field ? dimensions[field]! : "all"
  const named = (value: string) =>
    limited(
      conditions,
      "t",
      ({ values }) => sql`${sql.raw(value)} = any(${values.map((each) => (each === "null" ? "" : String(each)))}::text[])`,
    )
  const kept = reader.scoped(sums, companyIds).where("t.dimension", "=", name).where(named("t.value"))
  const since = reader
    .scoped(changes, companyIds)
    .where("t.tag_id", name === "tag" ? "is not" : "is", null)
    .where(named(chatDimensions[name]("t")))
  const all = kept.select("t.chats").unionAll(since.select("t.chats"))
  return number(reader, reader.sql.selectFrom(all.as("each")).select(sql<string>`coalesce(sum(chats), 0)`.as("count")))
}

const countTaggings = (reader: Reader, companyIds: string[], conditions: Condition[]): Promise<number> =>
  number(
    reader,
    reader.scoped(taggings, companyIds).where(ofTaggings(conditions, "t")).select(sql<string>`count(distinct t.chat_id)`.as("count")),
  )

async function number(reader: Reader, query: Parameters<typeof runQuery<{ count: string }>>[1]): Promise<number> {
  const [row] = await runQuery(reader, query)
  return Number(row!.count)
}
