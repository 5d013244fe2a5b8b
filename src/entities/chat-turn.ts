import { ObjectType } from "type-graphql"
import { concludeTurn, type TurnOutcome } from "./assistant-turn.js"
import { ChatRow } from "./chat-row.js"
import type { Actor } from "./control-change.js"
import type { AiDisableReason } from "./kit/chat-words.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
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

  /** A customer wrote: an answer is due when the burst has paused, or a maximum time after its first message (contract, section 5). */
  expectReply(now: Date, timing: ReplyTiming) {
    if (!this.isAnsweredByAi) return
    if (this.turn.runId && !this.turnIsFinal) this.restartTurn()
    this.replyFirstAt ??= now
    const due = Math.min(now.getTime() + timing.replyDebounceMs, this.replyFirstAt.getTime() + timing.replyMaxWaitMs)
    // While a failed model call waits for its next try, a newer message joins it and does not hurry it.
    const retryAt = this.turn.failures > 0 && this.turn.dueAt ? this.turn.dueAt.getTime() : 0
    this.expectWork(this.turn, new Date(Math.max(due, now.getTime(), retryAt)))
  }

  /** A turn begins: it answers the burst that waited. */
  beginTurn(now: Date) {
    this.turnFirstAt = this.replyFirstAt ?? now
    this.replyFirstAt = null
  }

  /** The fence: whether this turn may still write to the chat. */
  holdsTurn(turnId: string) {
    return this.turn.holds(turnId) && this.isAnsweredByAi
  }

  /** The turn calls a tool: it does not start over any more, and its end closes the call's frame. */
  turnCallsTool(callId: string, round: number) {
    this.turnIsFinal = true
    this.turnRounds = round
    this.openCalls = [...this.openCalls, callId]
  }

  /** The output of a call has arrived; returns whether its frame is still open. */
  turnHearsTool(callId: string): boolean {
    const isOpen = this.openCalls.includes(callId)
    if (isOpen) this.openCalls = this.openCalls.filter((open) => open !== callId)
    return isOpen
  }

  /** The turn is answered; messages that arrived meanwhile are the next burst. */
  endTurn() {
    this.finishTurn("answered")
  }

  /** The assistant itself hands the chat to a person, which ends the turn. */
  handOver(by: Actor) {
    this.finishTurn("handed_off")
    this.turnAiOff("auto", by)
  }

  /** The running turn is given up and starts over, once: for a newer message, or with another assistant. */
  protected restartTurn() {
    const firstAt = copyOf(this.turnFirstAt)
    this.replyFirstAt = firstAt
    this.expectWork(this.turn, this.turn.dueAt ?? firstAt ?? this.turn.leaseUntil!)
    this.leaveTurn("superseded")
    this.turnIsFinal = true
  }

  /** The running turn ends without an answer and can be taken as it was; returns the calls that it left open. */
  giveTurnBack(outcome: "failed" | "released" | "lost"): string[] {
    const [firstAt, openCalls] = [copyOf(this.turnFirstAt), this.openCalls]
    this.leaveTurn(outcome)
    this.replyFirstAt = firstAt ?? this.replyFirstAt
    return openCalls
  }

  /** Nothing is due any more, and no running turn may store its answer. */
  forgetReply() {
    this.replyFirstAt = null
    this.finishTurn("taken_over")
    this.turn.cancel()
  }

  private finishTurn(outcome: TurnOutcome) {
    this.leaveTurn(outcome)
    this.turn.end()
    this.turnRounds = 0
    this.turnIsFinal = false
  }

  /** Takes the running turn from its worker, closes the frames that it left open, and records its outcome. */
  private leaveTurn(outcome: TurnOutcome) {
    const { turn, openCalls } = this
    const turnId = turn.runId
    if (!turnId) return
    turn.leave()
    this.turnFirstAt = null
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
