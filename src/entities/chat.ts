import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { BadUserInput } from "../errors.js"
import { limits } from "../limits.js"
import { Assistant } from "./assistant.js"
import { type Messenger, MessengerEnum } from "./channel.js"
import { ChatFolder } from "./chat-folder.js"
import { ChatTag } from "./chat-tag.js"
import { type Actor, ControlChange } from "./control-change.js"
import { type ChatComment, ChatMeta } from "./kit/chat-meta.js"
import { type AiDisableReason, AiDisableReasonEnum, type ChatType, ChatTypeEnum } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { Timestamp, UUID } from "./kit/scalars.js"
import { Message, withdrawQueuedAnswers } from "./message.js"
import { User } from "./user.js"

/** How long the assistant waits for the rest of a burst, in milliseconds (specification, Limits). */
export interface ReplyTiming {
  replyDebounceMs: number
  replyMaxWaitMs: number
}

@ObjectType({ description: "A conversation with a customer on a channel." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["companyId", "messenger", "fromId", "externalId"] })
@Index({ name: "chat_recency", expression: "create index chat_recency on chat (company_id, recency desc, id desc)" })
@Index({ name: "chat_reply_due", expression: "create index chat_reply_due on chat (reply_due_at) where reply_due_at is not null" })
@Index({ name: "chat_search", expression: "create index chat_search on chat using gin (search_text gin_trgm_ops)" })
@Index({ name: "chat_folder_filed", expression: "create index chat_folder_filed on chat (folder_id) where folder_id is not null" })
@Index({
  name: "chat_turn_lease",
  expression: "create index chat_turn_lease on chat (turn_lease_until) where turn_lease_until is not null",
})
export class Chat extends CompanyOwned {
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

  /** When the burst that waits for an answer began; null while nothing waits. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  replyFirstAt: Date | null = null

  /** When the answer is due; the row is the queue. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  replyDueAt: Date | null = null

  /** The running turn, and the fence around it: whoever holds another id may store nothing. */
  @Property({ type: "uuid", nullable: true })
  turnId: string | null = null

  /** Until when the worker of the running turn is believed to live. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  turnLeaseUntil: Date | null = null

  /** When the burst that the running turn answers began. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  turnFirstAt: Date | null = null

  /** Failed model calls of the turn so far. */
  @Property({ type: "integer", default: 0 })
  turnFailures: number = 0

  /** A turn starts over for a newer message once at most, and never after it called a tool. */
  @Property({ type: "boolean", default: false })
  turnIsFinal: boolean = false

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

  /** Notes that it was created, for the company's clients. */
  opened() {
    this.records({ type: "CHAT_CREATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Notes that something its clients see has changed. */
  changed() {
    this.records({ type: "CHAT_UPDATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Notes that it is gone, for the company's clients. */
  deleted() {
    this.records({ type: "CHAT_DELETED", companyId: this.companyId, chatId: this.id, payload: { value: { chatId: this.id } } })
    return this
  }

  /** Notes something about the chat for colleagues. */
  comment(text: string, authorId: string | null) {
    this.comments = [...this.comments, { id: v7(), text, authorId, createdAt: clock.now().toISOString() }]
    return this.changed()
  }

  /** Takes a note back; an absent one is no change. */
  uncomment(commentId: string) {
    const kept = this.comments.filter((comment) => comment.id !== commentId)
    if (kept.length === this.comments.length) return this
    this.comments = kept
    return this.changed()
  }

  /** A person has seen everything. */
  read() {
    this.readUpTo(this.lastSequence, clock.now(), 0)
    this.unreadExtra = 0
    return this.changed()
  }

  /** A person wants to come back to it: reading begins again at our side's last message, with at least one to read. */
  unread(ourLast: { sequence: number; at: Date } | null, customerMessagesSince: number) {
    this.unreadExtra = customerMessagesSince === 0 ? 1 : 0
    this.readUpTo(ourLast?.sequence ?? 0, ourLast?.at ?? null, customerMessagesSince + this.unreadExtra)
    return this.changed()
  }

  private readUpTo(sequence: number, at: Date | null, unreadCount: number) {
    this.lastReadSequence = sequence
    this.lastReadAt = at
    this.unreadCount = unreadCount
  }

  get isGroup() {
    return this.chatType === "group"
  }

  /** Whether the assistant answers here: AI on, an assistant assigned, and no group, whatever its flag. */
  get isAnsweredByAi() {
    return this.isUnderAiControl && this.assistantId !== null && !this.isGroup
  }

  /** Turns AI on for the chat; a group never has it. */
  turnAiOn(by: Actor) {
    if (this.isGroup) throw new BadUserInput("AI cannot be turned on in a group chat")
    this.setAi(true, null, by)
  }

  /** Hands the chat to a person. Always allowed; says why, so that only an automatic hand-off comes back by itself. */
  turnAiOff(reason: AiDisableReason, by: Actor) {
    this.setAi(false, reason, by)
  }

  /** Begins the chat with an assistant, AI on: nothing that changed, and nothing to tell besides the creation. */
  beginWith(assistant: Assistant) {
    this.mustTake(assistant)
    this.assistantId = assistant.id
    this.isUnderAiControl = true
  }

  private mustTake(assistant: Assistant) {
    if (this.isGroup) throw new BadUserInput("An assistant cannot be assigned to a group chat")
    assistant.mustBeAssignable()
  }

  /** Gives the chat to an assistant and turns AI on. */
  assign(assistant: Assistant, by: Actor) {
    this.mustTake(assistant)
    this.setAssistant(assistant.id)
    this.turnAiOn(by)
  }

  /** Writes the assistant without the business rules; a turn of the assistant before starts over with the new one. */
  setAssistant(assistantId: string | null) {
    if (assistantId === this.assistantId) return
    this.assistantId = assistantId
    if (assistantId === null) this.forgetReply()
    else if (this.turnId) this.reopenBurst(copyOf(this.turnFirstAt))
    this.changed()
  }

  /** Writes the AI flag without the business rules, as `PATCH /api/chats/{id}` is specified to. */
  setAi(on: boolean, reason: AiDisableReason | null, by: Actor) {
    if (this.isUnderAiControl === on && this.aiDisableReason === reason) return
    this.isUnderAiControl = on
    this.aiDisableReason = reason
    const change = new ControlChange()
    Object.assign(change, { companyId: this.companyId, chatId: this.id, isUnderAiControl: on, aiDisableReason: reason })
    Object.assign(change, { actorKind: by.kind, actorId: by.id })
    this.entails(async (em) => {
      em.persist(change)
      return on ? [] : withdrawQueuedAnswers(em, this.id)
    })
    if (!on) this.forgetReply()
    const payload = { chatId: this.id, isUnderAiControl: on, aiDisableReason: reason }
    this.records({ type: "CHAT_MODE_CHANGED", companyId: this.companyId, chatId: this.id, payload: { value: payload } })
  }

  /** A customer wrote: an answer is due when the burst has paused, at most so long after its first message (contract, section 5). */
  expectReply(now: Date, timing: ReplyTiming) {
    if (!this.isAnsweredByAi) return
    if (this.turnId && !this.turnIsFinal) this.reopenBurst(copyOf(this.turnFirstAt))
    this.replyFirstAt ??= now
    const due = Math.min(now.getTime() + timing.replyDebounceMs, this.replyFirstAt.getTime() + timing.replyMaxWaitMs)
    // While a failed model call waits for its next try, a newer message joins it and does not hurry it.
    const retryAt = this.turnFailures > 0 && this.replyDueAt ? this.replyDueAt.getTime() : 0
    this.replyIsDue(new Date(Math.max(due, now.getTime(), retryAt)))
  }

  /** Whether a turn is to be taken: one is due and none runs, or the worker of the running one is gone. */
  isTurnDue(now: Date) {
    if (this.turnId) return this.turnLeaseUntil !== null && this.turnLeaseUntil <= now
    return this.replyDueAt !== null && this.replyDueAt <= now
  }

  /** Takes the turn under a lease; the answer may be stored only by whoever holds the id. */
  takeTurn(now: Date): string {
    this.turnFirstAt ??= this.replyFirstAt ?? now
    this.replyFirstAt = null
    this.replyDueAt = null
    this.turnLeaseUntil = new Date(now.getTime() + limits.turnLeaseMs)
    this.turnId = v7()
    return this.turnId
  }

  /** The fence: whether this turn may still write to the chat. */
  holdsTurn(turnId: string) {
    return this.turnId === turnId && this.isAnsweredByAi
  }

  /** The turn called a tool: from here on it does not start over. */
  turnCalledTool() {
    this.turnIsFinal = true
  }

  /** The turn is answered; what came meanwhile waits as the next burst. */
  endTurn() {
    if (this.replyDueAt) this.replyIsDue(this.replyDueAt)
    this.turnId = this.turnLeaseUntil = this.turnFirstAt = null
    this.turnFailures = 0
    this.turnIsFinal = false
  }

  /** A model call failed: tries again later, or hands the chat to a person when it failed too often. */
  failTurn(now: Date, by: Actor) {
    this.turnFailures += 1
    if (this.turnFailures >= limits.modelTries) return this.turnAiOff("auto", by)
    this.replyFirstAt = this.turnFirstAt ?? now
    this.replyIsDue(new Date(now.getTime() + limits.modelRetryBaseMs * 2 ** (this.turnFailures - 1)))
    this.turnId = this.turnLeaseUntil = this.turnFirstAt = null
  }

  private replyIsDue(at: Date) {
    this.replyDueAt = at
    this.wakes({ job: "reply", companyId: this.companyId, id: this.id, at })
  }

  private reopenBurst(firstAt: Date | null) {
    this.replyFirstAt = firstAt
    this.replyIsDue(this.replyDueAt ?? firstAt ?? this.turnLeaseUntil!)
    this.turnId = this.turnLeaseUntil = this.turnFirstAt = null
    this.turnIsFinal = true
  }

  /** Gives the turn back as it was: another worker takes it at once. */
  releaseTurn(now: Date) {
    this.replyFirstAt = this.turnFirstAt ?? now
    this.replyIsDue(now)
    this.turnId = this.turnLeaseUntil = this.turnFirstAt = null
  }

  /** Nothing is due any more, and no running turn may store its answer. */
  forgetReply() {
    this.replyFirstAt = this.replyDueAt = null
    this.endTurn()
  }
}

/** A copy, so that two columns never share one Date. */
const copyOf = (date: Date | null) => (date ? new Date(date) : null)
