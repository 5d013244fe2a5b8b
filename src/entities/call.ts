import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { type CallReply, CallRow, type CallVariables } from "./call-row.js"
import { type CallEndedReason, type CallStatus, callTransitions, onLine } from "./kit/call-words.js"
import { clock } from "./kit/clock.js"
import { entityLimits } from "./limits.js"

/** What is known of the end of a call. */
export interface CallEnd {
  status: CallStatus
  endedReason: CallEndedReason
  /** Whole seconds from the answer to the end; null when it was not connected. */
  duration: number | null
  /** Whether it is concluded from a timeout. */
  isPresumed?: boolean
}

@ObjectType({ description: "A call of an assistant to a customer." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "call_newest", expression: "create index call_newest on call (company_id, call_date desc, id desc)" })
@Index({ name: "call_waiting", expression: "create index call_waiting on call (company_id, call_date, id) where status = 'queued'" })
@Index({ name: "call_on_line", expression: "create index call_on_line on call (company_id) where status in ('dialing', 'in_progress')" })
@Index({ name: "call_assistant", expression: "create index call_assistant on call (assistant_id)" })
@Index({ name: "call_caller_assistant", expression: "create index call_caller_assistant on call (caller_assistant_id)" })
@Index({ name: "call_recording", expression: "create index call_recording on call (recording_id) where recording_id is not null" })
@Index({
  name: "call_provider_call",
  expression: "create index call_provider_call on call (provider_call_id) where provider_call_id is not null",
})
@Index({ name: "call_line_due", expression: "create index call_line_due on call (company_id, line_due_at) where line_due_at is not null" })
@Index({
  name: "call_line_lease",
  expression: "create index call_line_lease on call (line_lease_until) where line_lease_until is not null",
})
@Index({
  name: "call_record_due",
  expression: "create index call_record_due on call (company_id, record_due_at) where record_due_at is not null",
})
@Index({
  name: "call_record_lease",
  expression: "create index call_record_lease on call (record_lease_until) where record_lease_until is not null",
})
export class Call extends CallRow {
  @Field(() => Boolean, { description: "Whether the call was accepted; always true." })
  success?: boolean

  /** Whether the call occupies a line. */
  get isOnLine() {
    return onLine.includes(this.status)
  }

  /** Whether the call has ended. */
  get isEnded() {
    return this.endedReason !== null
  }

  /** Gives the call a line; its work begins at once. */
  takeLine() {
    this.become("dialing")
    this.lineTakenAt = clock.now()
    this.expectWork(this.line, this.lineTakenAt)
  }

  /** Records the intent to dial, with the variables as they are then. It must be committed before the provider is asked. */
  intendToDial(variables: CallVariables, unresolved: string[], maxDurationSeconds: number) {
    Object.assign(this, { dialedAt: clock.now(), dynamicVariables: variables, unresolvedVariables: unresolved, maxDurationSeconds })
  }

  /** Records that the provider dials. */
  dialed(providerCallId: string, reference: string | null) {
    this.providerCallId ??= providerCallId
    this.providerReference ??= reference
  }

  /** Gives the line back, because the provider is too busy; the call was not dialed. */
  returnToQueue(pauseMs: number) {
    this.become("queued")
    this.dialedAt = this.lineTakenAt = null
    this.queuedUntil = new Date(clock.now().getTime() + pauseMs)
  }

  /** Records that the customer has answered. */
  answered(at = clock.now()) {
    if (this.status !== "dialing") return
    this.become("in_progress")
    this.answeredAt = at
    this.emitEvent("CALL_STARTED")
  }

  /** Ends the call; returns false when it has ended before. A report of the provider replaces an end that was presumed, once. */
  end(end: CallEnd): boolean {
    if (this.isEnded && !(this.isPresumedEnd && !end.isPresumed)) return false
    // The presumption was wrong: the call is on its line until now.
    if (this.isEnded) this.status = this.answeredAt ? "in_progress" : "dialing"
    if (end.duration !== null && this.status === "dialing") {
      const answeredAt = new Date(clock.now().getTime() - end.duration * 1000)
      this.answered(this.dialedAt && answeredAt < this.dialedAt ? this.dialedAt : answeredAt)
    }
    this.become(end.status)
    Object.assign(this, { endedReason: end.endedReason, duration: end.duration, isPresumedEnd: end.isPresumed ?? false })
    this.endedAt = clock.now()
    this.line.cancel()
    this.expectWork(this.record, this.endedAt)
    this.emitEvent("CALL_ENDED")
    return true
  }

  /** Minutes to charge for a call that was connected and not charged yet; null when there is nothing to charge. */
  charge(): number | null {
    if (this.duration === null || this.chargedMinutes !== null) return null
    const share = entityLimits.chargedMinuteShare
    this.chargedMinutes = Math.round((this.duration / entityLimits.secondsPerMinute) * share) / share
    return this.chargedMinutes
  }

  /** Notes what the provider reports as said; returns false when it was known. */
  hear(replies: CallReply[]): boolean {
    if (this.heard !== null) return false
    this.heard = replies
    return true
  }

  /** Stores what was said. Without a word the status stays. */
  transcribe(replies: CallReply[]) {
    if (this.status !== "completed" || replies.length === 0) return
    this.replies = replies
    this.transcript = replies.map(({ role, text }) => `${role === "agent" ? "Agent" : "Customer"}: ${text}`).join("\n")
    this.become("transcribed")
    this.emitEvent("CALL_TRANSCRIBED")
  }

  /** Asks the company's clients to run a tool. */
  asksClient(request: object) {
    this.emit({ type: "TOOL_CALL_REQUESTED", companyId: this.companyId, chatId: null, payload: { value: request } })
  }

  private become(status: CallStatus) {
    if (!callTransitions[this.status].includes(status)) throw new Error(`A call cannot become ${status} after ${this.status}`)
    this.status = status
  }

  private emitEvent(type: "CALL_STARTED" | "CALL_ENDED" | "CALL_TRANSCRIBED") {
    this.emit({ type, companyId: this.companyId, chatId: null, payload: { row: "Call", id: this.id } })
  }
}
