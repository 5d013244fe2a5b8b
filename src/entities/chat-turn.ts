import { ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { concludeTurn, type TurnOutcome } from "./assistant-turn.js"
import { ChatRow } from "./chat-row.js"
import type { Actor } from "./control-change.js"
import type { AiDisableReason } from "./kit/chat-words.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
import { entityLimits } from "./limits.js"
import { outputFrame } from "./message.js"
import { resultLost } from "./tool-call.js"

/** When the assistant answers in a chat: bursts, turns, and who may store an answer. */
@ObjectType()
export abstract class ChatTurn extends ChatRow {
  /** Hands the chat to a person. */
  abstract turnAiOff(reason: AiDisableReason, by: Actor): void

  get isGroup() {
    return this.chatType === "group"
  }

  /** Whether the assistant answers here: AI on, an assistant assigned, and no group, whatever its flag. */
  get isAnsweredByAi() {
    return this.isUnderAiControl && this.assistantId !== null && !this.isGroup
  }

  /** A customer wrote: an answer is due when the burst has paused, at most so long after its first message (contract, section 5). */
  expectReply(now: Date, timing: ReplyTiming) {
    if (!this.isAnsweredByAi) return
    if (this.turnId && !this.turnIsFinal) this.restartTurn()
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
    this.turnFirstAt = this.replyFirstAt ?? now
    this.replyFirstAt = null
    this.replyDueAt = null
    this.turnLeaseUntil = new Date(now.getTime() + entityLimits.turnLeaseMs)
    this.turnId = v7()
    return this.turnId
  }

  /** The fence: whether this turn may still write to the chat. */
  holdsTurn(turnId: string) {
    return this.turnId === turnId && this.isAnsweredByAi
  }

  /** The turn calls a tool: from here on it does not start over, and whatever ends it closes the call's frame. */
  turnCallsTool(callId: string, round: number) {
    this.turnIsFinal = true
    this.turnRounds = round
    this.openCalls = [...this.openCalls, callId]
  }

  /** The output of a call is there: whether its frame still waits for it. */
  turnHearsTool(callId: string): boolean {
    const isOpen = this.openCalls.includes(callId)
    if (isOpen) this.openCalls = this.openCalls.filter((open) => open !== callId)
    return isOpen
  }

  /** The turn is answered; what came meanwhile waits as the next burst. */
  endTurn() {
    if (this.replyDueAt) this.replyIsDue(this.replyDueAt)
    this.finishTurn("answered")
  }

  /** The assistant itself hands the chat to a person, which ends the turn. */
  handOver(by: Actor) {
    this.finishTurn("handed_off")
    this.turnAiOff("auto", by)
  }

  /** A model call failed: tries again later, or hands the chat to a person when it failed too often. */
  failTurn(now: Date, by: Actor) {
    this.turnFailures += 1
    if (this.turnFailures >= entityLimits.modelTries) {
      this.leaveTurn("failed")
      return this.turnAiOff("auto", by)
    }
    this.replyFirstAt = this.turnFirstAt ?? now
    this.replyIsDue(new Date(now.getTime() + entityLimits.modelRetryBaseMs * 2 ** (this.turnFailures - 1)))
    this.leaveTurn("failed")
  }

  private replyIsDue(at: Date) {
    this.replyDueAt = at
    this.schedule({ job: "reply", companyId: this.companyId, id: this.id, at })
  }

  /** The running turn is given up and starts over, once: for a newer message, or with another assistant. */
  protected restartTurn() {
    const firstAt = copyOf(this.turnFirstAt)
    this.replyFirstAt = firstAt
    this.replyIsDue(this.replyDueAt ?? firstAt ?? this.turnLeaseUntil!)
    this.leaveTurn("superseded")
    this.turnIsFinal = true
  }

  /** Gives the turn back as it was: another worker takes it at once. */
  releaseTurn(now: Date) {
    this.replyFirstAt = this.turnFirstAt ?? now
    this.replyIsDue(now)
    this.leaveTurn("released")
  }

  /** The worker of the running turn is gone: the turn can be taken as it was. Answers the calls of which nobody will hear. */
  loseTurn(): string[] {
    const [firstAt, lostCalls] = [copyOf(this.turnFirstAt), this.openCalls]
    this.leaveTurn("lost")
    this.replyFirstAt = firstAt ?? this.replyFirstAt
    return lostCalls
  }

  /** Nothing is due any more, and no running turn may store its answer. */
  forgetReply() {
    this.replyFirstAt = this.replyDueAt = null
    this.finishTurn("taken_over")
  }

  private finishTurn(outcome: TurnOutcome) {
    this.leaveTurn(outcome)
    this.turnFailures = this.turnRounds = 0
    this.turnIsFinal = false
  }

  /** Shuts the fence of the running turn, closes the frames it left open, and says what became of it. */
  private leaveTurn(outcome: TurnOutcome) {
    const { turnId, openCalls } = this
    if (!turnId) return
    this.turnId = this.turnLeaseUntil = this.turnFirstAt = null
    this.openCalls = []
    const [status, error] =
      outcome === "lost" ? (["error", resultLost] as const) : (["cancelled", "The turn was given up before the result was known."] as const)
    this.alsoInTransaction(async (em, append) => {
      for (const callId of openCalls) await append(outputFrame(this.id, callId, status, { error }))
      await concludeTurn(em, turnId, outcome)
      return []
    })
  }
}

/** A copy, so that two columns never share one Date. */
const copyOf = (date: Date | null) => (date ? new Date(date) : null)
