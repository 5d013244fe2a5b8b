import { ObjectType } from "type-graphql"
import { concludeTurn, type TurnOutcome } from "./assistant-turn.js"
import { ChatRow } from "./chat-row.js"
import type { Actor } from "./control-change.js"
import type { AiDisableReason, HandOffReason } from "./kit/chat-words.js"
import type { ReplyTiming } from "./kit/reply-timing.js"
import { outputFrame } from "./kit/tool-frames.js"
import { resultLost } from "./tool-call.js"

/** Reply scheduling of a chat: bursts of customer messages, turns of the assistant, and their fencing. */
@ObjectType()
export abstract class ChatTurn extends ChatRow {
  /** Turns AI off, so that a person answers. */
  abstract turnAiOff(reason: AiDisableReason, by: Actor, why?: HandOffReason): void

  get isGroup() {
    return this.chatType === "group"
  }

  /** Whether the assistant answers: AI is on, an assistant is assigned, and the chat is no group. */
  get isAnsweredByAi() {
    return this.isUnderAiControl && this.assistantId !== null && !this.isGroup
  }

  /** Schedules a reply to a customer message: after a pause, or a maximum time after the burst's first message (contract, section 5). */
  expectReply(now: Date, timing: ReplyTiming) {
    if (!this.isAnsweredByAi) return
    if (this.turn.runId && !this.turnIsFinal) this.restartTurn()
    this.replyFirstAt ??= now
    const due = Math.min(now.getTime() + timing.replyDebounceMs, this.replyFirstAt.getTime() + timing.replyMaxWaitMs)
    // A newer message does not shorten the pause before a failed model call is retried.
    const retryAt = this.turn.failures > 0 && this.turn.dueAt ? this.turn.dueAt.getTime() : 0
    this.expectWork(this.turn, new Date(Math.max(due, now.getTime(), retryAt)))
  }

  /** Starts a turn, which answers the waiting burst. */
  beginTurn(now: Date) {
    this.turnFirstAt = this.replyFirstAt ?? now
    this.replyFirstAt = null
  }

  /** Whether this turn may still write to the chat (fencing). */
  holdsTurn(turnId: string) {
    return this.turn.holds(turnId) && this.isAnsweredByAi
  }

  /** Records a tool call of the turn; from now on newer messages do not restart the turn. */
  openToolCall(callId: string, round: number) {
    this.turnIsFinal = true
    this.turnRounds = round
    this.openCalls = [...this.openCalls, callId]
  }

  /** Records the output of a tool call; returns false when the chat no longer waits for it. */
  closeToolCall(callId: string): boolean {
    const isOpen = this.openCalls.includes(callId)
    if (isOpen) this.openCalls = this.openCalls.filter((open) => open !== callId)
    return isOpen
  }

  /** Ends the turn as answered; messages that arrived meanwhile form the next burst. */
  endTurn() {
    this.finishTurn("answered")
  }

  /** Ends the turn because the assistant hands the chat over to a person. */
  handOver(by: Actor, why?: HandOffReason) {
    this.finishTurn("handed_off")
    this.turnAiOff("auto", by, why)
  }

  /** Supersedes the running turn, which starts over once: for a newer message, or with another assistant. */
  protected restartTurn() {
    const firstAt = copyOf(this.turnFirstAt)
    this.replyFirstAt = firstAt
    this.expectWork(this.turn, this.turn.dueAt ?? firstAt ?? this.turn.leaseUntil!)
    this.leaveTurn("superseded")
    this.turnIsFinal = true
  }

  /** Ends the running turn without an answer, so that it can be run again; returns the IDs of its open tool calls. */
  abortTurn(outcome: "failed" | "released" | "lost"): string[] {
    const [firstAt, openCalls] = [copyOf(this.turnFirstAt), this.openCalls]
    this.leaveTurn(outcome)
    this.replyFirstAt = firstAt ?? this.replyFirstAt
    return openCalls
  }

  /** Cancels the due reply and the running turn, which can no longer store its answer. */
  cancelReply() {
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

  /** Takes the running turn from its worker, writes the missing outputs of its tool calls, and records its outcome. */
  private leaveTurn(outcome: TurnOutcome) {
    const { turn, openCalls } = this
    const turnId = turn.runId
    if (!turnId) return
    turn.releaseRun()
    this.turnFirstAt = null
    this.openCalls = []
    const [status, error] =
      outcome === "lost" ? (["error", resultLost] as const) : (["cancelled", "The turn ended before the result was known."] as const)
    this.alsoInTransaction(async (em, append) => {
      for (const callId of openCalls) await append(outputFrame(this.id, callId, status, { error }))
      await concludeTurn(em, turnId, outcome)
      return []
    })
  }
}

/** Copies a date, so that two columns never share one mutable Date. */
const copyOf = (date: Date | null) => (date ? new Date(date) : null)
