import { type RawBuilder, sql } from "kysely"
import { readModel } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import type { ChatDimension } from "../entities/chat-count.js"
import type { Condition } from "./kit/filter.js"
import type { CountRows, SizedList } from "./kit/page.js"

const sums = readModel("ChatCount")
const changes = readModel("ChatCountChange")
const taggings = readModel("ChatTagging")

/** Conditions that limit every kept number, with their columns. */
const facts: Record<string, string> = {
  unread: "is_unread",
  needsAttention: "needs_attention",
  isUnderAiControl: "is_under_ai_control",
}

/** The dimensions of kept numbers by the conditions on them, and how a change that is not added up yet names its value. */
const dimensions: Record<string, { name: ChatDimension; value: RawBuilder<unknown> }> = {
  messenger: { name: "messenger", value: sql`t.messenger` },
  folderId: { name: "folder", value: sql`coalesce(t.folder_id::text, '')` },
  managerId: { name: "manager", value: sql`coalesce(t.manager_id::text, '')` },
  tagIds: { name: "tag", value: sql`t.tag_id::text` },
}

const allChats = { name: "all" as const, value: sql`''` }

/**
 * Returns how the chats that meet all conditions are counted: from the kept numbers, if the conditions are facts and at most one dimension, or
 * from the index of taggings, if they are several tags or tags of a messenger. Null for other conditions, which need the chats.
 */
export function keptCount(conditions: Condition[]): CountRows | null {
  const fields = new Set(conditions.map(({ field }) => field).filter((field) => !Object.hasOwn(facts, field)))
  if (![...fields].every((field) => Object.hasOwn(dimensions, field))) return null
  const tags = conditions.filter(({ field }) => field === "tagIds")
  // A chat counts once for each of its tags, so that numbers of several tags do not add up.
  const isSum = fields.size <= 1 && tags.every(({ values }) => values.length === 1) && tags.length <= 1
  if (isSum) return (reader, companyIds) => addUp(reader, companyIds, conditions, [...fields][0])
  const isOfTaggings = tags.length === 1 && !fields.has("folderId") && !fields.has("managerId")
  return isOfTaggings ? (reader, companyIds) => countTaggings(reader, companyIds, conditions) : null
}

/** Whether a condition has an index of its own that gives its chats by recency. */
const isWalked = ({ field, values }: Condition) =>
  (field === "unread" && values[0]) || (field === "needsAttention" && values[0]) || (field === "isUnderAiControl" && !values[0])

/** Returns how many chats a list has, and how many its index has; null when the number of the list is not kept. */
export function sizedList(conditions: Condition[]): SizedList<"Chat"> | null {
  const matching = keptCount(conditions)
  if (!matching) return null
  const walked = keptCount(conditions.filter(isWalked).slice(0, 1))!
  const isTagged = conditions.some(({ field }) => field === "tagIds")
  const tagged = isTagged && sql<boolean>`exists (select 1 from chat_tagging g where g.chat_id = t.id and ${ofTaggings(conditions, "g")})`
  return { matching, walked, gathered: tagged ? (query) => query.where(tagged) : null }
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
  const { name, value } = field ? dimensions[field]! : allChats
  const named = (column: RawBuilder<unknown>) =>
    limited(conditions, "t", ({ values }) => sql`${column} = any(${values.map((each) => (each === "null" ? "" : String(each)))}::text[])`)
  const kept = reader.scoped(sums, companyIds).where("t.dimension", "=", name).where(named(sql`t.value`))
  const since = reader
    .scoped(changes, companyIds)
    .where("t.tag_id", field === "tagIds" ? "is not" : "is", null)
    .where(named(value))
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
