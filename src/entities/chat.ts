import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { BadUserInput } from "../errors/errors.js"
import type { Assistant } from "./assistant.js"
import { ChatTurn } from "./chat-turn.js"
import { type Actor, ControlChange, handOffReasonOf } from "./control-change.js"
import type { AiDisableReason, HandOffReason } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
import { entityLimits } from "./limits.js"
import { Message } from "./message.js"
import { withdrawQueuedAnswers } from "./withdraw.js"

@ObjectType({ description: "A conversation with a customer, or a group, on a channel." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["companyId", "messenger", "fromId", "externalId"] })
@Index({ name: "chat_recency", expression: "create index chat_recency on chat (company_id, recency desc, id desc)" })
@Index({
  name: "chat_attention",
  expression:
    "create index chat_attention on chat (company_id, recency desc, id desc) where not is_under_ai_control and ai_disable_reason = 'auto' and not is_attended",
})
@Index({
  name: "chat_unread_recency",
  // With the messenger, chats of others are passed over without reading their rows.
  expression: "create index chat_unread_recency on chat (company_id, recency desc, id desc, messenger) where unread_count > 0",
})
@Index({
  name: "chat_of_people",
  expression: "create index chat_of_people on chat (company_id, recency desc, id desc) where not is_under_ai_control",
})
@Index({ name: "chat_manager", expression: "create index chat_manager on chat (manager_id) where manager_id is not null" })
@Index({
  name: "chat_reply_due",
  expression: "create index chat_reply_due on chat (company_id, reply_due_at) where reply_due_at is not null",
})
@Index({ name: "chat_search", expression: "create index chat_search on chat using gin (search_text gin_trgm_ops)" })
@Index({ name: "chat_folder_filed", expression: "create index chat_folder_filed on chat (folder_id) where folder_id is not null" })
@Index({ name: "chat_quiet", expression: "create index chat_quiet on chat (company_id, quiet_since) where quiet_since is not null" })
@Index({ name: "chat_assistant", expression: "create index chat_assistant on chat (assistant_id) where assistant_id is not null" })
@Index({
  name: "chat_delivery_due",
  expression: "create index chat_delivery_due on chat (company_id, delivery_due_at) where delivery_due_at is not null",
})
@Index({
  name: "chat_delivery_lease",
  expression: "create index chat_delivery_lease on chat (delivery_lease_until) where delivery_lease_until is not null",
})
@Index({
  name: "chat_turn_lease",
  expression: "create index chat_turn_lease on chat (turn_lease_until) where turn_lease_until is not null",
})
export class Chat extends ChatTurn {
  /** Emits the event CHAT_CREATED. */
  opened() {
    this.emit({ type: "CHAT_CREATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Emits the event CHAT_UPDATED. */
  changed() {
    this.emit({ type: "CHAT_UPDATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Emits the event TOOL_CALL_REQUESTED, which asks client applications to run a tool call. */
  asksClient(request: object) {
    this.emit({ type: "TOOL_CALL_REQUESTED", companyId: this.companyId, chatId: this.id, payload: { value: request } })
  }

  /** Emits the event CHAT_DELETED. */
  deleted() {
    this.emit({ type: "CHAT_DELETED", companyId: this.companyId, chatId: this.id, payload: { value: { chatId: this.id } } })
    // The database deletes the messages with the chat, and the bodies of its tool calls; the job removes the files that only they used.
    this.schedule({ job: "forget-media", companyId: this.companyId, id: this.id, at: clock.now() })
    return this
  }

  /** Adds an internal comment; throws when the chat has as many as it may have. */
  comment(text: string, authorId: string | null) {
    if (this.comments.length >= entityLimits.chatComments)
      throw new BadUserInput(`A chat has at most ${entityLimits.chatComments} comments`)
    this.comments = [...this.comments, { id: v7(), text, authorId, createdAt: clock.now().toISOString() }]
    return this.changed()
  }

  /** Removes an internal comment; nothing changes when it does not exist. */
  uncomment(commentId: string) {
    const kept = this.comments.filter((comment) => comment.id !== commentId)
    if (kept.length === this.comments.length) return this
    this.comments = kept
    return this.changed()
  }

  /** Marks all messages as read. */
  markRead() {
    this.readUpTo(this.lastSequence, clock.now(), 0)
    this.unreadExtra = 0
    return this.changed()
  }

  /** Marks the messages after the company's last one as unread; the unread count is then at least 1. */
  markUnread(ourLast: { sequence: number; at: Date } | null, customerMessagesSince: number) {
    this.unreadExtra = customerMessagesSince === 0 ? 1 : 0
    this.readUpTo(ourLast?.sequence ?? 0, ourLast?.at ?? null, customerMessagesSince + this.unreadExtra)
    return this.changed()
  }

  private readUpTo(sequence: number, at: Date | null, unreadCount: number) {
    this.lastReadSequence = sequence
    this.lastReadAt = at
    this.unreadCount = unreadCount
  }

  /** Turns AI on; throws in a group chat. */
  turnAiOn(by: Actor) {
    if (this.isGroup) throw new BadUserInput("AI cannot be turned on in a group chat")
    this.setAi(true, null, by)
  }

  /** Turns AI off, which is always allowed. After reason `auto` the server turns it on again. */
  turnAiOff(reason: AiDisableReason, by: Actor, why: HandOffReason = handOffReasonOf(by)) {
    this.setAi(false, reason, by, why)
  }

  /** Assigns the assistant of a new chat and turns AI on; the event of the creation reports both. */
  beginWith(assistant: Assistant) {
    this.assertAssignable(assistant)
    this.assistantId = assistant.id
    this.isUnderAiControl = true
  }

  private assertAssignable(assistant: Assistant) {
    if (this.isGroup) throw new BadUserInput("An assistant cannot be assigned to a group chat")
    assistant.mustBeAssignable()
  }

  /** Assigns an assistant and turns AI on. */
  assign(assistant: Assistant, by: Actor) {
    this.assertAssignable(assistant)
    this.setAssistant(assistant.id)
    this.turnAiOn(by)
  }

  /** Sets the assistant without the checks of `assign`; a running turn of the previous assistant starts over with the new one. */
  setAssistant(assistantId: string | null) {
    if (assistantId === this.assistantId) return
    this.assistantId = assistantId
    if (assistantId === null) this.cancelReply()
    else if (this.turn.runId) this.restartTurn()
    this.watchForReturn()
    this.changed()
  }

  /** Sets the AI flag without the checks of `turnAiOn`, as the specification demands of `PATCH /api/chats/{id}`. */
  setAi(on: boolean, reason: AiDisableReason | null, by: Actor, why: HandOffReason | null = null) {
    if (this.isUnderAiControl === on && this.aiDisableReason === reason) return
    this.isUnderAiControl = on
    this.aiDisableReason = reason
    this.isAttended = false
    const change = new ControlChange()
    Object.assign(change, { companyId: this.companyId, chatId: this.id, isUnderAiControl: on, aiDisableReason: reason })
    Object.assign(change, { actorKind: by.kind, actorId: by.id, handOffReason: why })
    this.alsoInTransaction(async (em) => {
      em.persist(change)
      // What the assistant wrote before it handed the chat over is still sent.
      return on || by.kind === "assistant" ? [] : withdrawQueuedAnswers(em, this.id, this.delivery.runId !== null)
    })
    if (!on) this.cancelReply()
    this.watchForReturn()
    const payload = { chatId: this.id, isUnderAiControl: on, aiDisableReason: reason }
    this.emit({ type: "CHAT_MODE_CHANGED", companyId: this.companyId, chatId: this.id, payload: { value: payload } })
  }

  /** Whether AI will be turned on again: it was turned off with reason `auto`, and the assigned assistant may answer. */
  private get returnsAutomatically() {
    return !this.isUnderAiControl && this.aiDisableReason === "auto" && this.assistantId !== null && !this.isGroup
  }

  /** Starts or stops the wait for inactivity after which AI is turned on again. */
  watchForReturn() {
    this.quietSince = this.returnsAutomatically ? (this.quietSince ?? clock.now()) : null
  }

  /** Whether the chat has been inactive long enough for AI to be turned on again. */
  isReturnDue(now: Date, { autoResumeAfterMs }: ReplyTiming) {
    return this.returnsAutomatically && this.quietSince !== null && this.quietSince.getTime() + autoResumeAfterMs <= now.getTime()
  }

  /** Turns AI on again after inactivity; `archiveId` names the context archive that older messages were moved to, if any. */
  returnToAi(archiveId: string | null, by: Actor) {
    if (archiveId) this.contextId = archiveId
    this.setAi(true, null, by)
    this.changed()
  }
}

// Declared here, because a chat refers to its last message, which refers to its chat.
Field(() => Chat, { nullable: true, description: "Chat of the message." })(Message.prototype, "chat")
