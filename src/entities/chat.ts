import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { BadUserInput } from "../errors.js"
import { limits } from "../limits.js"
import type { Assistant } from "./assistant.js"
import { ChatRow } from "./chat-row.js"
import { type Actor, ControlChange } from "./control-change.js"
import type { AiDisableReason } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
import { withdrawQueuedAnswers } from "./message.js"

@ObjectType({ description: "A conversation with a customer on a channel." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["companyId", "messenger", "fromId", "externalId"] })
@Index({ name: "chat_recency", expression: "create index chat_recency on chat (company_id, recency desc, id desc)" })
@Index({ name: "chat_reply_due", expression: "create index chat_reply_due on chat (reply_due_at) where reply_due_at is not null" })
@Index({ name: "chat_search", expression: "create index chat_search on chat using gin (search_text gin_trgm_ops)" })
@Index({ name: "chat_folder_filed", expression: "create index chat_folder_filed on chat (folder_id) where folder_id is not null" })
@Index({ name: "chat_assistant", expression: "create index chat_assistant on chat (assistant_id) where assistant_id is not null" })
@Index({
  name: "chat_turn_lease",
  expression: "create index chat_turn_lease on chat (turn_lease_until) where turn_lease_until is not null",
})
export class Chat extends ChatRow {
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
    // Its messages go with it; the files that only they showed are removed behind it.
    this.wakes({ job: "forget-media", companyId: this.companyId, id: this.id, at: clock.now() })
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
