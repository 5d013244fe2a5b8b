import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { BadUserInput } from "../errors.js"
import type { Assistant } from "./assistant.js"
import { ChatTurn } from "./chat-turn.js"
import { type Actor, ControlChange } from "./control-change.js"
import type { AiDisableReason } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
import { withdrawQueuedAnswers } from "./message.js"

@ObjectType({ description: "A conversation with a customer, or a group, on a channel." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["companyId", "messenger", "fromId", "externalId"] })
@Index({ name: "chat_recency", expression: "create index chat_recency on chat (company_id, recency desc, id desc)" })
@Index({ name: "chat_reply_due", expression: "create index chat_reply_due on chat (reply_due_at) where reply_due_at is not null" })
@Index({ name: "chat_search", expression: "create index chat_search on chat using gin (search_text gin_trgm_ops)" })
@Index({ name: "chat_folder_filed", expression: "create index chat_folder_filed on chat (folder_id) where folder_id is not null" })
@Index({ name: "chat_quiet", expression: "create index chat_quiet on chat (company_id, quiet_since) where quiet_since is not null" })
@Index({ name: "chat_assistant", expression: "create index chat_assistant on chat (assistant_id) where assistant_id is not null" })
@Index({
  name: "chat_turn_lease",
  expression: "create index chat_turn_lease on chat (turn_lease_until) where turn_lease_until is not null",
})
export class Chat extends ChatTurn {
  /** Notes that it was created, for the company's clients. */
  opened() {
    this.emit({ type: "CHAT_CREATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Notes that something its clients see has changed. */
  changed() {
    this.emit({ type: "CHAT_UPDATED", companyId: this.companyId, chatId: this.id, payload: { row: "Chat", id: this.id } })
    return this
  }

  /** Asks the company's clients to carry out a tool call of its assistant. */
  asksClient(request: object) {
    this.emit({ type: "TOOL_CALL_REQUESTED", companyId: this.companyId, chatId: this.id, payload: { value: request } })
  }

  /** Notes that it is gone, for the company's clients. */
  deleted() {
    this.emit({ type: "CHAT_DELETED", companyId: this.companyId, chatId: this.id, payload: { value: { chatId: this.id } } })
    // Its messages go with it; the files that only they showed are removed behind it.
    this.schedule({ job: "forget-media", companyId: this.companyId, id: this.id, at: clock.now() })
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
    else if (this.turn.runId) this.restartTurn()
    this.watchForReturn()
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
    this.alsoInTransaction(async (em) => {
      em.persist(change)
      return on ? [] : withdrawQueuedAnswers(em, this.id)
    })
    if (!on) this.forgetReply()
    this.watchForReturn()
    const payload = { chatId: this.id, isUnderAiControl: on, aiDisableReason: reason }
    this.emit({ type: "CHAT_MODE_CHANGED", companyId: this.companyId, chatId: this.id, payload: { value: payload } })
  }

  /** Whether it comes back to its assistant by itself: handed over automatically, and there is an assistant who may answer. */
  private get comesBack() {
    return !this.isUnderAiControl && this.aiDisableReason === "auto" && this.assistantId !== null && !this.isGroup
  }

  /** Begins, or ends, to watch how long the chat has been quiet. */
  watchForReturn() {
    this.quietSince = this.comesBack ? (this.quietSince ?? clock.now()) : null
  }

  /** Whether the chat has been quiet for so long that the assistant takes it back. */
  isReturnDue(now: Date, { autoResumeAfterMs }: ReplyTiming) {
    return this.comesBack && this.quietSince !== null && this.quietSince.getTime() + autoResumeAfterMs <= now.getTime()
  }

  /** The assistant takes the chat back; what it is not to read any more was moved to an archive, if there was anything. */
  comeBack(archiveId: string | null, by: Actor) {
    if (archiveId) this.contextId = archiveId
    this.setAi(true, null, by)
    this.changed()
  }
}
