import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { DateTime, JSONValue, UUID } from "./kit/scalars.js"
import { StorableJson } from "./kit/storable.js"
import { words } from "./kit/words.js"

/** Status of a tool call (specification, Tool call outcome). */
export const ToolCallStatusEnum = words("ToolCallStatus", "Status of a tool call.", {
  success: "The call succeeded.",
  error: "The call failed.",
  pending: "The call has not completed.",
})
export type ToolCallStatus = (typeof ToolCallStatusEnum)[string]

/** The outcome of a tool call. */
export interface ToolOutcome {
  success: boolean
  /** HTTP status of the endpoint's response, if there was one. */
  status: number | null
  latencyMs: number
  /** Response body: parsed when it was JSON, otherwise text. */
  body: unknown
  /** Why the call failed, in one sentence; null when it succeeded. */
  error: string | null
  /** Whether a search of the knowledge found something; absent for other calls. */
  found?: boolean | null
  /** IDs of stored files that belong to the result; the message with the result gets them. */
  mediaIds?: string[]
}

/** The error of a call whose worker was lost, or whose client never answered. */
export const resultLost = "The result is unknown: the call may or may not have been carried out."

@ObjectType({ description: "An entry in the log of tool calls." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
@Unique({ properties: ["companyId", "id"] })
@Index({
  name: "tool_call_outcome",
  expression: "create index tool_call_outcome on tool_call (tool_id, status, created_at desc, id desc)",
})
@Index({ name: "tool_call_newest", expression: "create index tool_call_newest on tool_call (tool_id, created_at desc, id desc)" })
@Index({
  name: "tool_call_pending",
  expression: "create index tool_call_pending on tool_call (created_at) where status = 'pending'",
})
@Index({ name: "tool_call_turn", expression: "create index tool_call_turn on tool_call (turn_id) where turn_id is not null" })
@Index({
  name: "tool_call_body",
  expression: "create index tool_call_body on tool_call (created_at) where params <> '{}' or response is not null",
})
@Index({ name: "tool_call_call", expression: "create index tool_call_call on tool_call (call_id) where call_id is not null" })
@Index({ name: "tool_call_chat", expression: "create index tool_call_chat on tool_call (chat_id) where chat_id is not null" })
export class ToolCall {
  @Field(() => UUID, {
    description: "Unique ID; sent to the endpoint as X-Tool-Call-Id, and the callId of the messages of this call in the chat.",
  })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Field(() => UUID, { description: "ID of the company that owns this object." })
  @Property({ type: "uuid" })
  companyId!: string

  @Field(() => UUID, { description: "ID of the tool." })
  @Property({ type: "uuid" })
  toolId!: string

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the chat in which the assistant called the tool; null for a test and for a voice call.",
  })
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the voice call in which the assistant called the tool." })
  @Property({ type: "uuid", nullable: true })
  callId: string | null = null

  /** The turn that made the call, also when its chat was deleted: then the database stores no body; a resumed turn finds its calls by this ID. */
  @Property({ type: "uuid", nullable: true })
  turnId: string | null = null

  @Field(() => JSONValue, { description: "Arguments that were sent." })
  @Property({ type: StorableJson })
  params: unknown = {}

  @Field(() => JSONValue, { nullable: true, description: "Response body of the endpoint: parsed if it is JSON, otherwise text." })
  @Property({ type: StorableJson, nullable: true })
  response: unknown = null

  @Field(() => Int, { nullable: true, description: "HTTP status of the response." })
  @Property({ type: "integer", nullable: true })
  responseStatus: number | null = null

  @Field(() => Boolean, { description: "Whether the call succeeded; false while it is pending." })
  @Property({ type: "boolean", default: false })
  success: boolean = false

  @Field(() => ToolCallStatusEnum, { description: "Status of the call." })
  @Property({ type: "text", default: "pending" })
  status: ToolCallStatus = "pending"

  @Field(() => Int, { nullable: true, description: "Response time of the endpoint, in milliseconds." })
  @Property({ type: "integer", nullable: true })
  latencyMs: number | null = null

  @Field(() => String, { nullable: true, description: "Why the call failed, in one sentence; null when it succeeded or is pending." })
  @Property({ type: "text", nullable: true })
  error: string | null = null

  @Field(() => DateTime, { description: "Time of the call." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()

  /** Whether a search of the knowledge found something that says anything about its query; null for other calls. */
  @Property({ type: "boolean", nullable: true })
  found: boolean | null = null

  /** The outcome; null while the call is pending. */
  get outcome(): ToolOutcome | null {
    if (this.status === "pending") return null
    return {
      success: this.success,
      status: this.responseStatus,
      latencyMs: this.latencyMs ?? 0,
      body: this.response,
      error: this.error,
      found: this.found,
    }
  }

  /** Records the outcome of a pending call; returns false when the call already has one. */
  complete({ success, status, latencyMs, body, error, found = null }: ToolOutcome): boolean {
    if (this.status !== "pending") return false
    Object.assign(this, { success, responseStatus: status, latencyMs, response: body ?? null, error, found })
    this.status = success ? "success" : "error"
    return true
  }

  /** Ends a pending call whose outcome and response time are unknown. */
  endUnknown(error: string) {
    if (this.status === "pending") Object.assign(this, { status: "error", error })
  }
}

/** Totals over all calls of a tool, kept by a database trigger, so that statistics do not count the log. */
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export class ToolCallTally {
  @PrimaryKey({ type: "uuid" })
  toolId!: string

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "integer", default: 0 })
  total: number = 0

  @Property({ type: "integer", default: 0 })
  success: number = 0

  @Property({ type: "integer", default: 0 })
  error: number = 0

  @Property({ type: "bigint", default: 0 })
  latencyMs: number = 0

  /** Number of calls in the sum of response times. */
  @Property({ type: "integer", default: 0 })
  timed: number = 0
}
