import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { Assistant } from "./assistant.js"
import { AssistantTurn } from "./assistant-turn.js"
import { type Messenger, MessengerEnum } from "./channel.js"
import { ChatFolder } from "./chat-folder.js"
import { ChatTag } from "./chat-tag.js"
import { ControlChange } from "./control-change.js"
import { type ChatComment, ChatMeta } from "./kit/chat-meta.js"
import { type AiDisableReason, AiDisableReasonEnum, type ChatType, ChatTypeEnum } from "./kit/chat-words.js"
import { CompanyOwned } from "./kit/row.js"
import { Timestamp, UUID } from "./kit/scalars.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { Message } from "./message.js"
import { User } from "./user.js"

const TurnState = workState("reply", {
  dueAt: "reply_due_at",
  runId: "turn_id",
  leaseUntil: "turn_lease_until",
  failures: "turn_failures",
})

/** What is kept of a chat; its rules are in chat.ts. */
@ObjectType()
export abstract class ChatRow extends CompanyOwned {
  @Field(() => MessengerEnum, { description: "The channel it is on." })
  @Property({ type: "text" })
  messenger!: Messenger

  @Field(() => String, { description: "Id of the connected account on the channel." })
  @Property({ type: "text" })
  fromId!: string

  @Field(() => String, { nullable: true, description: "The customer's id on the channel." })
  @Property({ type: "text", nullable: true })
  externalId: string | null = null

  @Field(() => String, { nullable: true, description: "The customer's name." })
  @Property({ type: "text", nullable: true })
  name: string | null = null

  @Field(() => String, { nullable: true, description: "Name of the connected account." })
  @Property({ type: "text", nullable: true })
  accountName: string | null = null

  @Field(() => String, { nullable: true, description: "The customer's user name on the channel." })
  @Property({ type: "text", nullable: true })
  username: string | null = null

  @Field(() => String, { nullable: true, description: "The customer's phone number." })
  @Property({ type: "text", nullable: true })
  phoneNumber: string | null = null

  @Field(() => ChatTypeEnum, { description: "Whether it is with one customer or a group." })
  @Property({ type: "text", default: "private" })
  chatType: ChatType = "private"

  @Field(() => UUID, { nullable: true, description: "The assistant it is assigned to." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => UUID, { nullable: true, description: "The manager it is assigned to." })
  @Property({ type: "uuid", nullable: true })
  managerId: string | null = null

  @Field(() => UUID, { nullable: true, description: "The folder it sits in." })
  @Property({ type: "uuid", nullable: true })
  folderId: string | null = null

  @Property({ type: "text", nullable: true })
  sourceChannel: string | null = null

  @Field(() => Boolean, { description: "Whether the assistant answers new messages." })
  @Property({ type: "boolean", default: false })
  isUnderAiControl: boolean = false

  @Field(() => AiDisableReasonEnum, { nullable: true, description: "Why AI is off; null while it is on, or never was." })
  @Property({ type: "text", nullable: true })
  aiDisableReason: AiDisableReason | null = null

  @Field(() => Int, { description: "Customer messages since the last read." })
  @Property({ type: "integer", default: 0 })
  unreadCount: number = 0

  /** Up to which message it was read: `unreadCount` is the customer's messages after it, and what was marked without any. */
  @Property({ type: "integer", default: 0 })
  lastReadSequence: number = 0

  /** 1 while it is marked as unread although the customer wrote nothing new. */
  @Property({ type: "integer", default: 0 })
  unreadExtra: number = 0

  @Field(() => Timestamp, { nullable: true, description: "When it was last read." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastReadAt: Date | null = null

  @Field(() => Timestamp, { nullable: true, description: "When its last message came; function frames and system messages do not count." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastMessageAt: Date | null = null

  @Property({ type: "uuid", nullable: true })
  lastMessageId: string | null = null

  /** What lists sort by: the last message, else the creation. Kept by the database. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", generated: "(coalesce(last_message_at, created_at)) stored" })
  recency!: Date

  /** What the search looks through. Kept by the database. */
  @Property({
    type: "text",
    generated:
      "(lower(coalesce(name, '') || chr(10) || coalesce(account_name, '') || chr(10) || coalesce(username, '') || chr(10) || coalesce(phone_number, ''))) stored",
  })
  searchText!: string

  @Property({ type: "integer", default: 0 })
  lastSequence: number = 0

  @Property({ type: "json", default: "[]" })
  comments: ChatComment[] = []

  @Field(() => UUID, { nullable: true, description: "The newest context archive that older messages were moved to." })
  @Property({ type: "uuid", nullable: true })
  contextId: string | null = null

  /** Since when nobody has written, while the chat waits to come back to its assistant; null while it does not wait. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  quietSince: Date | null = null

  /** When the burst that waits for an answer began; null while nothing waits. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  replyFirstAt: Date | null = null

  /** The assistant's turn: when an answer is due, and who is about to answer; a failure is a model call that failed. */
  @Embedded(() => TurnState, { prefix: false })
  turn: WorkState = new TurnState()

  /** When the burst that the running turn answers began. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  turnFirstAt: Date | null = null

  /** A turn starts over for a newer message once at most, and never after it called a tool. */
  @Property({ type: "boolean", default: false })
  turnIsFinal: boolean = false

  /** Rounds of tool calls of the turn so far, of all its workers. */
  @Property({ type: "integer", default: 0 })
  turnRounds: number = 0

  /** Calls of tools whose output is not in the chat yet. */
  @Property({ type: "json", default: "[]" })
  openCalls: string[] = []

  @Field(() => Boolean, { description: "Whether the assistant gave up and a person has to look." })
  needsAttention?: boolean

  @Field(() => Assistant, { nullable: true, description: "The assistant it is assigned to." })
  assistant?: Assistant | null

  @Field(() => User, { nullable: true, description: "The manager it is assigned to." })
  manager?: User | null

  @Field(() => ChatFolder, { nullable: true, description: "The folder it sits in." })
  folder?: ChatFolder | null

  @Field(() => Message, { nullable: true, description: "Its last message; function frames and system messages do not count." })
  lastMessage?: Message | null

  @Field(() => [ChatTag], { description: "Its tags, by name." })
  tags?: ChatTag[]

  @Field(() => ChatMeta, { description: "What is noted beside it." })
  meta?: ChatMeta

  @Field(() => [ControlChange], { description: "Who or what changed AI control, and when; the newest 100, newest first." })
  controlChanges?: ControlChange[]

  @Field(() => [AssistantTurn], { description: "Turns that assistants took, and what they cost; the newest 100, newest first." })
  assistantTurns?: AssistantTurn[]
}
