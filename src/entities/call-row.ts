import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Float, Int, ObjectType } from "type-graphql"
import {
  type CallEndedReason,
  CallEndedReasonEnum,
  type CallSource,
  CallSourceEnum,
  type CallStatus,
  CallStatusEnum,
} from "./kit/call-words.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, JSONValue, UUID } from "./kit/scalars.js"
import { StorableJson } from "./kit/storable.js"
import { TextList } from "./kit/text-list.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"

/** Who spoke on a call. */
export const CallReplyRoleEnum = words("CallReplyRole", "Who spoke on a call.", {
  agent: "The assistant.",
  customer: "The customer.",
})
export type CallReplyRole = (typeof CallReplyRoleEnum)[string]

@ObjectType({ description: "What was said on a call without a change of the speaker." })
export class CallReply {
  @Field(() => CallReplyRoleEnum, { description: "Who spoke." })
  role!: CallReplyRole

  @Field(() => String, { description: "The words." })
  text!: string

  @Field(() => Float, { nullable: true, description: "When it began, in seconds after the answer." })
  startSeconds!: number | null

  @Field(() => Float, { nullable: true, description: "When it ended, in seconds after the answer." })
  endSeconds!: number | null
}

/** Values that replace the placeholders of a prompt. */
export type CallVariables = Record<string, string | number | boolean | null>

const LineState = workState("call", {
  dueAt: "line_due_at",
  runId: "line_work_id",
  leaseUntil: "line_lease_until",
  failures: "line_failures",
})

const RecordState = workState("call-record", {
  dueAt: "record_due_at",
  runId: "record_work_id",
  leaseUntil: "record_lease_until",
  failures: "record_failures",
})

const time = { type: "datetime", columnType: "timestamptz(3)", nullable: true } as const

/** Columns of a call; its rules are in call.ts. */
@ObjectType()
export abstract class CallRow extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "ID of the assistant that speaks; null when it was deleted." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the assistant whose telephone number calls; null when it was deleted.",
  })
  @Property({ type: "uuid", nullable: true })
  callerAssistantId: string | null = null

  @Field(() => String, { description: "Name of the call in the response to originate: the same as id." })
  workflowId?: string

  @Field(() => CallStatusEnum, { description: "Status of the call." })
  @Property({ type: "text", default: "queued" })
  status: CallStatus = "queued"

  @Field(() => Int, { nullable: true, description: "Whole seconds from the answer to the end; null when it was not connected." })
  @Property({ type: "integer", nullable: true })
  duration: number | null = null

  @Field(() => String, {
    nullable: true,
    description: "Signed URL of the recording. It is valid for one hour and needs no credentials. Null without a recording.",
  })
  recordingUrl?: string | null

  /** The file of the recording. */
  @Property({ type: "uuid", nullable: true })
  recordingId: string | null = null

  @Field(() => String, { nullable: true, description: "The replies as one text, a line each; null before they are stored." })
  @Property({ type: "text", nullable: true })
  transcript: string | null = null

  @Field(() => JSONValue, {
    description: "The values of placeholders: those given at the start, those of webhook_init tools, and the system variables.",
  })
  @Property({ type: StorableJson, default: "{}" })
  dynamicVariables: CallVariables = {}

  @Field(() => [String], { description: "Names of placeholders that had no value and were left as they are." })
  @Property({ type: TextList, columnType: "text[]" })
  unresolvedVariables: string[] = []

  @Field(() => String, { description: "Telephone number of the customer, in E.164 format." })
  @Property({ type: "text" })
  phoneNumber!: string

  @Field(() => String, { nullable: true, description: "Name of the user who requested the call; null for an access token." })
  @Property({ type: "text", nullable: true })
  employeeName: string | null = null

  @Field(() => DateTime, { description: "When the call was accepted." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  callDate: Date = clock.now()

  @Field(() => CallSourceEnum, { description: "Where the call was requested." })
  @Property({ type: "text" })
  source!: CallSource

  @Field(() => CallEndedReasonEnum, { nullable: true, description: "Why the call ended; null before its end." })
  @Property({ type: "text", nullable: true })
  endedReason: CallEndedReason | null = null

  @Field(() => [CallReply], { description: "What was said, in its order; empty before it is stored." })
  @Property({ type: StorableJson, default: "[]" })
  replies: CallReply[] = []

  /** Name of the voice provider that dials. */
  @Property({ type: "text" })
  provider!: string

  /** The provider's ID of the call. */
  @Property({ type: "text", nullable: true })
  providerCallId: string | null = null

  /** The telephone network's ID of the call. */
  @Property({ type: "text", nullable: true })
  providerReference: string | null = null

  /** The intent to dial, committed before the provider is asked: a call with it is never dialed again unless the provider knows it was not. */
  @Property({ ...time })
  dialedAt: Date | null = null

  /** When the call got its line. */
  @Property({ ...time })
  lineTakenAt: Date | null = null

  /** When a call that the provider was too busy for may get a line again. */
  @Property({ ...time })
  queuedUntil: Date | null = null

  @Property({ ...time })
  answeredAt: Date | null = null

  @Property({ ...time })
  endedAt: Date | null = null

  /** Whether the end was concluded from a timeout, so that a later report of the provider replaces it. */
  @Property({ type: "boolean", default: false })
  isPresumedEnd: boolean = false

  /** Minutes that the call has cost; null before it was charged. */
  @Property({ type: "double", nullable: true })
  chargedMinutes: number | null = null

  /** Limits of the call as they were when it was dialed. */
  @Property({ type: "integer", default: 0 })
  maxDurationSeconds: number = 0

  /** Messages of a conversation that this server leads; null where the provider does. */
  @Property({ type: StorableJson, nullable: true })
  conversation: unknown = null

  /** What was said, as the provider reported it; null before that. */
  @Property({ type: StorableJson, nullable: true })
  heard: CallReply[] | null = null

  /** Failed tries to fetch the recording. */
  @Property({ type: "integer", default: 0 })
  recordingFailures: number = 0

  /** When the webhook_postcall tools have been called. */
  @Property({ ...time })
  reportedAt: Date | null = null

  /** Work of the call from its line to its end. */
  @Embedded(() => LineState, { prefix: false })
  line: WorkState = new LineState()

  /** Work after the end: transcript, recording, webhook_postcall. */
  @Embedded(() => RecordState, { prefix: false })
  record: WorkState = new RecordState()
}
