import { type RawBuilder, sql } from "kysely"
import { Field, InputType } from "type-graphql"
import type { RequestContext } from "../context/request-context.js"
import type { Narrow } from "../database/read-model.js"
import { type Messenger, MessengerEnum, messengers } from "../entities/channel.js"
import { type ChatType, ChatTypeEnum, chatTypes } from "../entities/kit/chat-words.js"
import { UUID } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors.js"
import { type Condition, day, dayAfter, type FilterField, idOr, literal, text, truth, wordOf } from "./kit/filter.js"

const anId = "a UUID"
const aDay = "a day, YYYY-MM-DD"
const days: FilterField = { operators: ["gte", "lte", "between"], read: day, expects: aDay }

/** Filterable fields of chats (specification, parameters of `GET /api/chats`). */
export const chatFilterFields: Record<string, FilterField> = {
  messenger: { operators: ["eq", "in"], read: wordOf(messengers), expects: `one of ${messengers.join(", ")}` },
  assistantId: { operators: ["eq", "in"], read: idOr(), expects: anId },
  managerId: { operators: ["eq", "in"], read: idOr("me", "null"), expects: `${anId}, me, or null` },
  isUnderAiControl: { operators: ["eq"], read: truth, expects: "true or false" },
  unread: { operators: ["eq"], read: truth, expects: "true or false" },
  chatType: { operators: ["eq", "in"], read: wordOf(chatTypes), expects: `one of ${chatTypes.join(", ")}` },
  phoneNumber: { operators: ["like", "startsWith"], read: text, expects: "a text" },
  lastMessageAt: days,
  createdAt: days,
  folderId: { operators: ["eq"], read: idOr("null"), expects: `${anId}, or null` },
  tagIds: { operators: ["in"], read: idOr(), expects: anId },
}

@InputType({ description: "Condition on the channel." })
class MessengerFilter {
  @Field(() => MessengerEnum, { nullable: true, description: "Equals this value." }) eq?: Messenger | null
  @Field(() => [MessengerEnum], { nullable: true, description: "Equals one of these values." }) in?: Messenger[] | null
}

@InputType({ description: "Condition on the type of a chat." })
class ChatTypeFilter {
  @Field(() => ChatTypeEnum, { nullable: true, description: "Equals this value." }) eq?: ChatType | null
  @Field(() => [ChatTypeEnum], { nullable: true, description: "Equals one of these values." }) in?: ChatType[] | null
}

@InputType({ description: "Condition on an ID." })
class IdFilter {
  @Field(() => UUID, { nullable: true, description: "Equals this value." }) eq?: string | null
  @Field(() => [UUID], { nullable: true, description: "Equals one of these values." }) in?: string[] | null
}

@InputType({ description: "Condition on an ID. `me` means the signed-in user, `null` means that no ID is set." })
class WordOrIdFilter {
  @Field(() => String, { nullable: true, description: "Equals this value." }) eq?: string | null
  @Field(() => [String], { nullable: true, description: "Equals one of these values." }) in?: string[] | null
}

@InputType({ description: "Condition on the folder. `null` means chats in no folder." })
class FolderFilter {
  @Field(() => String, { nullable: true, description: "Equals this value." }) eq?: string | null
}

@InputType({ description: "Condition on a boolean." })
class BooleanFilter {
  @Field(() => Boolean, { nullable: true, description: "Equals this value." }) eq?: boolean | null
}

@InputType({ description: "Condition on a text, regardless of case." })
class TextFilter {
  @Field(() => String, { nullable: true, description: "Contains this text." }) like?: string | null
  @Field(() => String, { nullable: true, description: "Starts with this text." }) startsWith?: string | null
}

@InputType({ description: "Condition on a time, by whole days in UTC (YYYY-MM-DD)." })
class DayFilter {
  @Field(() => String, { nullable: true, description: "On this day or later." }) gte?: string | null
  @Field(() => String, { nullable: true, description: "On this day or earlier." }) lte?: string | null
  @Field(() => [String], { nullable: true, description: "Two days: from the first to the second, both included." }) between?:
    | string[]
    | null
}

@InputType({ description: "Condition on the tags." })
class TagsFilter {
  @Field(() => [UUID], { nullable: true, description: "Has at least one tag with one of these IDs." }) in?: string[] | null
}

@InputType({ description: "Conditions on chats; a chat must meet all of them." })
export class ChatWhere {
  @Field(() => MessengerFilter, { nullable: true, description: "Channel of the chat." }) messenger?: MessengerFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the assigned assistant." }) assistantId?: IdFilter | null
  @Field(() => WordOrIdFilter, { nullable: true, description: "ID of the assigned manager." }) managerId?: WordOrIdFilter | null
  @Field(() => BooleanFilter, { nullable: true, description: "Whether AI is on." }) isUnderAiControl?: BooleanFilter | null
  @Field(() => BooleanFilter, { nullable: true, description: "Whether the chat has unread messages." }) unread?: BooleanFilter | null
  @Field(() => ChatTypeFilter, { nullable: true, description: "Whether the chat is with one customer or with a group." })
  chatType?: ChatTypeFilter | null
  @Field(() => TextFilter, { nullable: true, description: "Phone number of the customer." }) phoneNumber?: TextFilter | null
  @Field(() => DayFilter, { nullable: true, description: "Time of the last message." }) lastMessageAt?: DayFilter | null
  @Field(() => DayFilter, { nullable: true, description: "Time of creation." }) createdAt?: DayFilter | null
  @Field(() => FolderFilter, { nullable: true, description: "ID of the chat folder." }) folderId?: FolderFilter | null
  @Field(() => TagsFilter, { nullable: true, description: "IDs of the tags of the chat." }) tagIds?: TagsFilter | null
}

const columns: Record<string, string> = {
  messenger: "t.messenger",
  assistantId: "t.assistant_id",
  isUnderAiControl: "t.is_under_ai_control",
  chatType: "t.chat_type",
  phoneNumber: "t.phone_number",
  lastMessageAt: "t.last_message_at",
  createdAt: "t.created_at",
}

/** Compiles conditions for queries on chats. */
export function filtered(context: RequestContext, conditions: Condition[]): Narrow<"Chat"> {
  const ready = conditions.map((condition) => sqlOf(context, condition))
  return (query) => ready.reduce((found, condition) => found.where(condition), query)
}

function sqlOf(context: RequestContext, { field, operator, values }: Condition): RawBuilder<boolean> {
  const [first, second] = values
  // An empty `in` list matches no rows; only a typed `where` can contain one.
  if (values.length === 0) return sql`false`
  if (field === "managerId")
    return isOneOf(
      "t.manager_id",
      values.map((value) => (value === "me" ? currentUserId(context) : value)),
    )
  if (field === "folderId") return isOneOf("t.folder_id", values)
  if (field === "unread") return first ? sql`t.unread_count > 0` : sql`t.unread_count = 0`
  if (field === "tagIds") return sql`exists (select 1 from chat_tagging g where g.chat_id = t.id and g.tag_id = any(${values}::uuid[]))`
  const column = sql.ref(columns[field]!)
  if (operator === "like") return sql`${column} ilike ${`%${literal(String(first))}%`}`
  if (operator === "startsWith") return sql`${column} ilike ${`${literal(String(first))}%`}`
  if (operator === "gte") return sql`${column} >= ${new Date(String(first))}`
  if (operator === "lte") return sql`${column} < ${dayAfter(String(first))}`
  if (operator === "between") return sql`${column} >= ${new Date(String(first))} and ${column} < ${dayAfter(String(second))}`
  // Repeated values would be parameters, whose number is limited.
  return sql`${column} in (${sql.join([...new Set(values)])})`
}

/** Compares an ID column with a list of IDs, in which `null` means that no ID is set. */
function isOneOf(column: string, values: unknown[]): RawBuilder<boolean> {
  const ids = values.filter((value) => value !== "null")
  const isInList = sql<boolean>`${sql.ref(column)} = any(${ids}::uuid[])`
  if (ids.length === values.length) return isInList
  return ids.length === 0 ? sql`${sql.ref(column)} is null` : sql`(${sql.ref(column)} is null or ${isInList})`
}

function currentUserId(context: RequestContext): string {
  if (context.userId) return context.userId
  const message = "me requires a signed-in user, not an access token"
  throw new BadUserInput(`managerId: ${message}`, [{ path: "managerId", message }])
}
