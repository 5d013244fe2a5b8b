import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { Assistant } from "./assistant.js"
import { AssistantTurn } from "./assistant-turn.js"
import { type Messenger, MessengerEnum } from "./channel.js"
import { ChatFolder } from "./chat-folder.js"
import { ChatTag } from "./chat-tag.js"
import { ControlChange } from "./control-change.js"
import { deliverJob, replyJob } from "./kit/chat-jobs.js"
import { type ChatComment, ChatMeta } from "./kit/chat-meta.js"
import { type AiDisableReason, AiDisableReasonEnum, type ChatType, ChatTypeEnum } from "./kit/chat-words.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { Message } from "./message.js"
import { User } from "./user.js"

const TurnState = workState(replyJob, {
  dueAt: "reply_due_at",
  runId: "turn_id",
  leaseUntil: "turn_lease_until",
  failures: "turn_failures",
})

const DeliveryState = workState(deliverJob, {
  dueAt: "delivery_due_at",
  runId: "delivery_id",
  leaseUntil: "delivery_lease_until",
  failures: "delivery_failures",
})

/** Columns of a chat; its domain rules are in chat.ts. */
@ObjectType()
export abstract class ChatRow extends CompanyOwned {
  @Field(() => MessengerEnum, { description: "Channel of the chat." })
  @Property({ type: "text" })
  messenger!: Messenger

  @Field(() => String, { description: "ID of the connected account on the channel; equals config.externalId of the channel connection." })
  @Property({ type: "text" })
  fromId!: string

  @Field(() => String, { nullable: true, description: "ID of the customer on the channel." })
  @Property({ type: "text", nullable: true })
  externalId: string | null = null

  @Field(() => String, { nullable: true, description: "Name of the customer." })
  @Property({ type: "text", nullable: true })
  name: string | null = null

  @Field(() => String, { nullable: true, description: "Name of the connected account." })
  @Property({ type: "text", nullable: true })
  accountName: string | null = null

  @Field(() => String, { nullable: true, description: "User name of the customer on the channel." })
  @Property({ type: "text", nullable: true })
  username: string | null = null

  @Field(() => String, { nullable: true, description: "Phone number of the customer." })
  @Property({ type: "text", nullable: true })
  phoneNumber: string | null = null

  @Field(() => ChatTypeEnum, { description: "Whether the chat is with one customer or with a group." })
  @Property({ type: "text", default: "private" })
  chatType: ChatType = "private"

  @Field(() => UUID, { nullable: true, description: "ID of the assigned assistant." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the assigned manager." })
  @Property({ type: "uuid", nullable: true })
  managerId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the chat folder; null when the chat is in no folder." })
  @Property({ type: "uuid", nullable: true })
  folderId: string | null = null

  @Property({ type: "text", nullable: true })
  sourceChannel: string | null = null

  @Field(() => Boolean, { description: "Whether the assistant answers new messages." })
  @Property({ type: "boolean", default: false })
  isUnderAiControl: boolean = false

  @Field(() => AiDisableReasonEnum, {
    nullable: true,
    description: "Why AI is off; null while AI is on, and in a chat where it was never on.",
  })
  @Property({ type: "text", nullable: true })
  aiDisableReason: AiDisableReason | null = null

  @Field(() => Int, { description: "Number of customer messages since the chat was last read." })
  @Property({ type: "integer", default: 0 })
  unreadCount: number = 0

  /** Sequence of the last message that was read; `unreadCount` is the number of later customer messages plus `unreadExtra`. */
  @Property({ type: "integer", default: 0 })
  lastReadSequence: number = 0

  /** 1 while the chat is marked as unread without a new customer message, otherwise 0. */
  @Property({ type: "integer", default: 0 })
  unreadExtra: number = 0

  @Field(() => DateTime, { nullable: true, description: "Time when the chat was last read." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastReadAt: Date | null = null

  @Field(() => DateTime, { nullable: true, description: "Time of the last message, apart from tool frames and system messages." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastMessageAt: Date | null = null

  @Property({ type: "uuid", nullable: true })
  lastMessageId: string | null = null

  /** Sort key of chat lists: the time of the last message, or of the creation. A generated column. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", generated: "(coalesce(last_message_at, created_at)) stored" })
  recency!: Date

  /** Text that the search of chats matches. A generated column. */
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

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the newest context archive; set when older messages were moved out of the context of the assistant.",
  })
  @Property({ type: "uuid", nullable: true })
  contextId: string | null = null

  /** Start of the inactivity after which AI is turned on again; null when the server is not to turn it on. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  quietSince: Date | null = null

  /** Time of the first message of the burst that waits for an answer; null when none waits. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  replyFirstAt: Date | null = null

  /** Work state of the assistant's turn; `failures` counts failed model calls. */
  @Embedded(() => TurnState, { prefix: false })
  turn: WorkState = new TurnState()

  /** Work state of the delivery of queued messages, one after the other. */
  @Embedded(() => DeliveryState, { prefix: false })
  delivery: WorkState = new DeliveryState()

  /** Time of the first message of the burst that the running turn answers. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  turnFirstAt: Date | null = null

  /** Whether newer messages no longer restart the turn: it was restarted once already, or it called a tool. */
  @Property({ type: "boolean", default: false })
  turnIsFinal: boolean = false

  /** Rounds of tool calls in the current turn, by all workers that ran it. */
  @Property({ type: "integer", default: 0 })
  turnRounds: number = 0

  /** IDs of tool calls whose output is not in the chat yet. */
  @Property({ type: "json", default: "[]" })
  openCalls: string[] = []

  /** Whether a person has written since AI was turned off with reason `auto`. */
  @Property({ type: "boolean", default: false })
  isAttended: boolean = false

  @Field(() => Boolean, {
    description: "Whether a person has to answer: AI was turned off with reason AUTO, and nobody has written for the company since.",
  })
  needsAttention?: boolean

  @Field(() => Assistant, { nullable: true, description: "The assigned assistant." })
  assistant?: Assistant | null

  @Field(() => User, { nullable: true, description: "The assigned manager." })
  manager?: User | null

  @Field(() => ChatFolder, { nullable: true, description: "The chat folder." })
  folder?: ChatFolder | null

  @Field(() => Message, { nullable: true, description: "The last message, apart from tool frames and system messages." })
  lastMessage?: Message | null

  @Field(() => [ChatTag], { description: "Tags of the chat, sorted by name." })
  tags?: ChatTag[]

  @Field(() => ChatMeta, { description: "Labels, internal comments and origin of the chat." })
  meta?: ChatMeta

  @Field(() => [ControlChange], { description: "The 100 latest changes of AI control, newest first." })
  controlChanges?: ControlChange[]

  @Field(() => [AssistantTurn], { description: "The 100 latest turns of assistants, newest first." })
  assistantTurns?: AssistantTurn[]
}
