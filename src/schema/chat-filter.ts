import { sql } from "kysely"
import { Field, InputType } from "type-graphql"
import type { RequestContext } from "../context/request-context.js"
import type { Narrow } from "../database/read-model.js"
import { messengers } from "../entities/channel.js"
import { type ChatType, ChatTypeEnum, chatTypes } from "../entities/kit/chat-words.js"
import { UUID } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors/errors.js"
import { type Condition, idOr, text, truth, wordOf } from "./kit/filter.js"
import { BooleanFilter, DayFilter, days, IdFilter, ids, MessengerFilter } from "./kit/filter-inputs.js"
import { type ListField, narrowedBy } from "./kit/filter-sql.js"

const needsAttention = sql<boolean>`not t.is_under_ai_control and t.ai_disable_reason = 'auto' and not t.is_attended`

/** Filterable fields of chats (specification, parameters of `GET /api/chats`). */
export const chatFilterFields: Record<string, ListField> = {
  messenger: {
    operators: ["eq", "in"],
    read: wordOf(messengers),
    expects: `one of ${messengers.join(", ")}`,
    column: "t.messenger",
    type: "value",
  },
  assistantId: { ...ids, column: "t.assistant_id", type: "id" },
  managerId: {
    operators: ["eq", "in"],
    read: idOr("me", "null"),
    expects: "a UUID, me, or null",
    column: "t.manager_id",
    type: "id",
  },
  isUnderAiControl: { operators: ["eq"], read: truth, expects: "true or false", column: "t.is_under_ai_control", type: "value" },
  unread: {
    operators: ["eq"],
    read: truth,
    expects: "true or false",
    column: "t.unread_count",
    type: "value",
    sql: ({ values: [isUnread] }) => (isUnread ? sql`t.unread_count > 0` : sql`t.unread_count = 0`),
  },
  needsAttention: {
    operators: ["eq"],
    read: truth,
    expects: "true or false",
    column: "t.is_attended",
    type: "value",
    // As the index chat_attention says it.
    sql: ({ values: [isNeeded] }) => (isNeeded ? needsAttention : sql`(${needsAttention}) is not true`),
  },
  chatType: {
    operators: ["eq", "in"],
    read: wordOf(chatTypes),
    expects: `one of ${chatTypes.join(", ")}`,
    column: "t.chat_type",
    type: "value",
  },
  phoneNumber: { operators: ["like", "startsWith"], read: text, expects: "a text", column: "t.phone_number", type: "value" },
  lastMessageAt: { ...days, column: "t.last_message_at", type: "day" },
  createdAt: { ...days, column: "t.created_at", type: "day" },
  folderId: { operators: ["eq"], read: idOr("null"), expects: "a UUID, or null", column: "t.folder_id", type: "id" },
  tagIds: {
    operators: ["in"],
    read: idOr(),
    expects: "a UUID",
    column: "t.id",
    type: "id",
    sql: ({ values }) => sql`exists (select 1 from chat_tagging g where g.chat_id = t.id and g.tag_id = any(${values}::uuid[]))`,
  },
}

@InputType({ description: "Condition on the type of a chat." })
class ChatTypeFilter {
  @Field(() => ChatTypeEnum, { nullable: true, description: "Equals this value." }) eq?: ChatType | null
  @Field(() => [ChatTypeEnum], { nullable: true, description: "Equals one of these values." }) in?: ChatType[] | null
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

@InputType({ description: "Condition on a text, regardless of case." })
class TextFilter {
  @Field(() => String, { nullable: true, description: "Contains this text." }) like?: string | null
  @Field(() => String, { nullable: true, description: "Starts with this text." }) startsWith?: string | null
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
  @Field(() => BooleanFilter, { nullable: true, description: "Whether a person has to answer." }) needsAttention?: BooleanFilter | null
  @Field(() => ChatTypeFilter, { nullable: true, description: "Whether the chat is with one customer or with a group." })
  chatType?: ChatTypeFilter | null
  @Field(() => TextFilter, { nullable: true, description: "Phone number of the customer." }) phoneNumber?: TextFilter | null
  @Field(() => DayFilter, { nullable: true, description: "Time of the last message." }) lastMessageAt?: DayFilter | null
  @Field(() => DayFilter, { nullable: true, description: "Time of creation." }) createdAt?: DayFilter | null
  @Field(() => FolderFilter, { nullable: true, description: "ID of the chat folder." }) folderId?: FolderFilter | null
  @Field(() => TagsFilter, { nullable: true, description: "IDs of the tags of the chat." }) tagIds?: TagsFilter | null
}

/** Conditions in which the signed-in user stands for `me`. */
export const withUser = (context: RequestContext, conditions: Condition[]): Condition[] =>
  conditions.map((condition) =>
    condition.field === "managerId"
      ? { ...condition, values: condition.values.map((id) => (id === "me" ? currentUserId(context) : id)) }
      : condition,
  )

/** Compiles conditions for queries on chats. */
export const filtered = (conditions: Condition[]): Narrow<"Chat"> => narrowedBy<"Chat">(chatFilterFields, conditions)

function currentUserId(context: RequestContext): string {
  if (context.userId) return context.userId
  const message = "me requires a signed-in user, not an access token"
  throw new BadUserInput(`managerId: ${message}`, [{ path: "managerId", message }])
}
