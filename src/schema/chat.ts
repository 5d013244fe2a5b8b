import { sql } from "kysely"
import { Field, InputType } from "type-graphql"
import { contextLimits } from "../context/limits.js"
import { belongsTo, computed, type PlainRow, type ReadModel, type Relation, readModel, type Selection } from "../database/read-model.js"
import { anyOf, arrayOf, type Reader } from "../database/reader.js"
import { type Messenger, MessengerEnum } from "../entities/channel.js"
import { Chat } from "../entities/chat.js"
import { type ChatType, ChatTypeEnum } from "../entities/kit/chat-words.js"
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

const readTags = Symbol("tags that were read")

/**
 * The tags of a page of chats: read once, for its tags and its labels alike. They are remembered on the page itself: an old WeakMap keeps
 * its values until the next full garbage collection.
 */
function tagsOf(rows: PlainRow[] & { [readTags]?: ReturnType<typeof findTags> }, reader: Reader, asked: Selection) {
  rows[readTags] ??= findTags(rows, reader, { ...asked["tags"], ...(asked["meta"]?.["labels"] && { name: {} }) })
  return rows[readTags]
}

async function findTags(rows: PlainRow[], reader: Reader, selection: Selection) {
  const ids = rows.map((row) => row["id"])
  const found = await reader.fixedList(chatTagReadModel, selection, {
    key: "of chats",
    values: [arrayOf(ids)],
    build: (query, [list]) =>
      query
        .innerJoin("chat_tagging as g", "g.tag_id", "t.id")
        .where("g.chat_id", "=", anyOf(list))
        .select("g.chat_id as chatId")
        .orderBy(sql`lower(t.name)`),
  })
  const byChat = new Map<string, PlainRow[]>(ids.map((id) => [id, []]))
  for (const tag of found) byChat.get(tag["chatId"])!.push(tag)
  return byChat
}

/** A field that holds the newest rows that a table has of each chat, newest first. */
const newest = (field: string, target: ReadModel, table: string, column: string): Relation => ({
  needs: [],
  async load(rows, reader, selection) {
    const ids = rows.map((row) => row["id"])
    const places = sql`select id from (
      select id, row_number() over (partition by chat_id order by ${sql.ref(column)} desc, id desc) as place
      from ${sql.table(table)} where chat_id = any(${ids}::uuid[])) ranked where place <= ${contextLimits.pageMax}`
    const found = await reader.list(target, { ...selection, chatId: {} }, (query) =>
      query.where(sql<boolean>`t.id in (${places})`).orderBy(`t.${column}`, "desc").orderBy("t.id", "desc"),
    )
    for (const row of rows) row[field] = found.filter((each) => each["chatId"] === row["id"])
  },
})

export const chatReadModel = readModel("Chat", {
  assistant: belongsTo("assistant", () => assistantReadModel, "assistantId"),
  manager: belongsTo("manager", () => userReadModel, "managerId"),
  folder: belongsTo("folder", () => chatFolderReadModel, "folderId"),
  lastMessage: belongsTo("lastMessage", () => messageReadModel, "lastMessageId"),
  needsAttention: computed(
    "needsAttention",
    ["isUnderAiControl", "aiDisableReason"],
    (row) => !row["isUnderAiControl"] && row["aiDisableReason"] === "auto",
  ),
  tags: {
    needs: [],
    async load(rows, reader, _selection, asked) {
      const tags = await tagsOf(rows, reader, asked)
      for (const row of rows) row["tags"] = tags.get(row["id"])
    },
  },
  meta: {
    needs: ["comments", "sourceChannel"],
    async load(rows, reader, selection, asked) {
      const tags = selection["labels"] ? await tagsOf(rows, reader, asked) : new Map<string, PlainRow[]>()
      for (const row of rows) {
        row["meta"] = {
          labels: (tags.get(row["id"]) ?? []).map((tag) => tag["name"]),
          comments: row["comments"],
          sourceChannel: row["sourceChannel"],
        }
      }
    },
  },
  controlChanges: newest("controlChanges", readModel("ControlChange"), "control_change", "created_at"),
  assistantTurns: newest("assistantTurns", readModel("AssistantTurn"), "assistant_turn", "started_at"),
})

export const ChatConnection = connectionOf(Chat)

export const ChatSortEnum = words("ChatSort", "Sort key of chats.", {
  lastMessageAt: "Most recent activity: the last message, or the creation of a chat without messages.",
  createdAt: "Creation.",
})
export const SortOrderEnum = words("SortOrder", "Sort order.", { ASC: "Ascending: oldest first.", DESC: "Descending: newest first." })

const ShortText = Trimmed({ min: 0, max: entityLimits.chatText })
const NeededText = Trimmed({ max: entityLimits.chatText })

@InputType({ description: "The chat to create." })
export class CreateChatInput extends InCompanyOnce {
  @Field(() => MessengerEnum, { description: "Channel of the chat." })
  messenger!: Messenger

  @Field(() => NeededText, { description: "ID of the connected account on the channel." })
  fromId!: string

  @Field(() => NeededText, { nullable: true, description: "ID of the customer on the channel." })
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

  @Field(() => UUID, { nullable: true, description: "ID of the manager to assign; null means nobody." })
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

  @Field(() => UUID, { nullable: true, description: "ID of the manager to assign; null means nobody." })
  managerId?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether the assistant answers new messages." })
  isUnderAiControl?: boolean | null
}
