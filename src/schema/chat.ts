import { sql } from "kysely"
import { Field, InputType } from "type-graphql"
import { contextLimits } from "../context/limits.js"
import {
  belongsTo,
  computed,
  hasMany,
  type Owners,
  type PlainRow,
  type ReadModel,
  type RelationReader,
  readModel,
  type Selection,
} from "../database/read-model.js"
import { type Messenger, MessengerEnum } from "../entities/channel.js"
import { Chat } from "../entities/chat.js"
import { type ChatType, ChatTypeEnum, needsAttention } from "../entities/kit/chat-words.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { words } from "../entities/kit/words.js"
import { entityLimits } from "../entities/limits.js"
import { assistantReadModel } from "./assistant.js"
import { chatFolderReadModel } from "./chat-folder.js"
import { chatTagReadModel } from "./chat-tag.js"
import { userReadModel } from "./company.js"
import { InCompanyOnce } from "./kit/input.js"
import { connectionOf } from "./kit/page.js"
import { messageReadModel } from "./message.js"

/** Taggings of the chats in a list. `offset 0` makes PostgreSQL find them by the chats; it may otherwise read all taggings of the company. */
const taggingsOf = ({ list, isCompany }: Owners) =>
  sql<{ chat_id: string; tag_id: string; company_id: string }>`(
    select g.chat_id, g.tag_id, g.company_id from ${list} c
    cross join lateral (select chat_id, tag_id, company_id from chat_tagging where chat_id = c.id and ${isCompany("company_id")} offset 0) g
  )`.as("g")

/** Tags of chats, sorted by name. */
const chatTags = hasMany(
  () => chatTagReadModel,
  "chatId",
  (query, _ids, owners) =>
    query
      .innerJoin(taggingsOf(owners), (on) => on.onRef("g.tag_id", "=", "t.id").onRef("g.company_id", "=", "t.company_id"))
      .select("g.chat_id as chatId")
      .orderBy(sql`lower(t.name)`),
)

/** Tags are selected as `tags` and as `meta.labels`: one selection for both reads them once. */
const loadTags = (rows: PlainRow[], reader: RelationReader, ofChat: Selection) =>
  reader.manyOf(
    chatTags,
    rows.map(({ id }) => id),
    { ...ofChat["tags"], ...(ofChat["meta"]?.["labels"] && { name: {} }) },
  )

/** The latest rows of a table for each chat, newest first. */
const latest = <T extends "ControlChange" | "AssistantTurn">(target: ReadModel<T>, table: string, column: string) =>
  hasMany(
    () => target,
    "chatId",
    (query, ids) => {
      const latestIds = sql`select id from (
        select id, row_number() over (partition by chat_id order by ${sql.ref(column)} desc, id desc) as rank
        from ${sql.table(table)} where chat_id = ${ids}) ranked where rank <= ${sql.lit(contextLimits.pageMax)}`
      return query
        .where(sql<boolean>`t.id in (${latestIds})`)
        .orderBy(sql.ref(`t.${column}`), "desc")
        .orderBy(sql.ref("t.id"), "desc")
    },
  )

export const chatReadModel = readModel("Chat", {
  assistant: belongsTo(() => assistantReadModel, "assistantId"),
  manager: belongsTo(() => userReadModel, "managerId"),
  folder: belongsTo(() => chatFolderReadModel, "folderId"),
  lastMessage: belongsTo(() => messageReadModel, "lastMessageId"),
  needsAttention: computed(["isUnderAiControl", "aiDisableReason", "isAttended"], needsAttention),
  tags: {
    needs: [],
    async load(rows, reader, _selection, ofChat) {
      const tags = await loadTags(rows, reader, ofChat)
      return rows.map(({ id }) => tags.get(id) ?? [])
    },
  },
  meta: {
    needs: ["comments", "sourceChannel"],
    async load(rows, reader, selection, ofChat) {
      const tags = selection["labels"] && (await loadTags(rows, reader, ofChat))
      return rows.map(({ id, comments, sourceChannel }) => ({
        labels: tags?.get(id)?.map(({ name }) => name) ?? [],
        comments,
        sourceChannel,
      }))
    },
  },
  controlChanges: latest(readModel("ControlChange"), "control_change", "created_at"),
  assistantTurns: latest(readModel("AssistantTurn"), "assistant_turn", "started_at"),
})

export const ChatConnection = connectionOf(Chat)

export const ChatSortEnum = words("ChatSort", "Sort key of chats.", {
  lastMessageAt: "Most recent activity: the last message, or the creation of a chat without messages.",
  createdAt: "Creation.",
})

const ShortText = Trimmed({ min: 0, max: entityLimits.chatText })
const RequiredText = Trimmed({ max: entityLimits.chatText })

@InputType({ description: "The chat to create." })
export class CreateChatInput extends InCompanyOnce {
  @Field(() => MessengerEnum, { description: "Channel of the chat." })
  messenger!: Messenger

  @Field(() => RequiredText, { description: "ID of the connected account on the channel." })
  fromId!: string

  @Field(() => RequiredText, { nullable: true, description: "ID of the customer on the channel." })
  externalId?: string | null

  @Field(() => ShortText, { nullable: true, description: "Name of the customer." })
  name?: string | null

  @Field(() => ShortText, { nullable: true, description: "Name of the connected account." })
  accountName?: string | null

  @Field(() => ShortText, { nullable: true, description: "User name of the customer on the channel." })
  username?: string | null

  @Field(() => ShortText, { nullable: true, description: "Phone number of the customer." })
  phoneNumber?: string | null

  @Field(() => ChatTypeEnum, { nullable: true, description: "Whether the chat is with one customer or with a group. Default: PRIVATE." })
  chatType?: ChatType | null

  @Field(() => UUID, { nullable: true, description: "ID of the assistant to assign. AI is on if an assistant is given, otherwise off." })
  assistantId?: string | null

  @Field(() => UUID, { nullable: true, description: "ID of the manager to assign; null means no manager." })
  managerId?: string | null

  @Field(() => ShortText, { nullable: true, description: "Channel from which an aggregator received the chat." })
  sourceChannel?: string | null
}

@InputType({ description: "The fields of a chat to change. The rules on groups, drafts and subscriptions are not applied." })
export class UpdateChatInput {
  @Field(() => ShortText, { nullable: true, description: "Name of the customer." })
  name?: string | null

  @Field(() => UUID, { nullable: true, description: "ID of the assistant to assign; null means none." })
  assistantId?: string | null

  @Field(() => UUID, { nullable: true, description: "ID of the manager to assign; null means no manager." })
  managerId?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether the assistant answers new messages." })
  isUnderAiControl?: boolean | null
}
