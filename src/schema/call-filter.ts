import { Field, InputType } from "type-graphql"
import { type CallSource, CallSourceEnum, type CallStatus, CallStatusEnum, callSources, callStatuses } from "../entities/kit/call-words.js"
import { count, wordOf } from "./kit/filter.js"
import { DayFilter, days, IdFilter, ids, NumberFilter } from "./kit/filter-inputs.js"
import type { ListField } from "./kit/filter-sql.js"

/** Filterable fields of calls (specification, Calls). */
export const callFilterFields: Record<string, ListField> = {
  status: {
    operators: ["eq", "in"],
    read: wordOf(callStatuses),
    expects: `one of ${callStatuses.join(", ")}`,
    column: "t.status",
    type: "value",
  },
  assistantId: { ...ids, column: "t.assistant_id", type: "id" },
  source: {
    operators: ["eq", "in", "nin"],
    read: wordOf(callSources),
    expects: `one of ${callSources.join(", ")}`,
    column: "t.source",
    type: "value",
  },
  callDate: { ...days, column: "t.call_date", type: "day" },
  duration: {
    operators: ["gte", "lte", "between"],
    read: count,
    expects: "a whole number of seconds, 0 or more",
    column: "t.duration",
    type: "value",
  },
}

@InputType({ description: "Condition on the status of a call." })
class CallStatusFilter {
  @Field(() => CallStatusEnum, { nullable: true, description: "Equals this value." }) eq?: CallStatus | null
  @Field(() => [CallStatusEnum], { nullable: true, description: "Equals one of these values." }) in?: CallStatus[] | null
}

@InputType({ description: "Condition on where a call was requested." })
class CallSourceFilter {
  @Field(() => CallSourceEnum, { nullable: true, description: "Equals this value." }) eq?: CallSource | null
  @Field(() => [CallSourceEnum], { nullable: true, description: "Equals one of these values." }) in?: CallSource[] | null
  @Field(() => [CallSourceEnum], { nullable: true, description: "Equals none of these values." }) nin?: CallSource[] | null
}

@InputType({ description: "Conditions on calls; a call must meet all of them." })
export class CallWhere {
  @Field(() => CallStatusFilter, { nullable: true, description: "Status of the call." }) status?: CallStatusFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the assistant that speaks." }) assistantId?: IdFilter | null
  @Field(() => CallSourceFilter, { nullable: true, description: "Where the call was requested." }) source?: CallSourceFilter | null
  @Field(() => DayFilter, { nullable: true, description: "When the call was accepted." }) callDate?: DayFilter | null
  @Field(() => NumberFilter, { nullable: true, description: "Duration in seconds." }) duration?: NumberFilter | null
}
