import { sql } from "kysely"
import { Field, InputType } from "type-graphql"
import { messengers } from "../entities/channel.js"
import { type HandOffReason, HandOffReasonEnum, handOffReasons } from "../entities/kit/chat-words.js"
import { type StretchOutcome, StretchOutcomeEnum, stretchOutcomes } from "../entities/kit/stretch-words.js"
import { idOr, truth, wordOf } from "./kit/filter.js"
import { BooleanFilter, MessengerFilter, NumberFilter, OptionalIdFilter } from "./kit/filter-inputs.js"
import type { ListField } from "./kit/filter-sql.js"

const word = (list: readonly string[], column: string): ListField => ({
  operators: ["eq", "in"],
  read: wordOf(list),
  expects: `one of ${list.join(", ")}`,
  column,
  type: "value",
})

const id = (column: string): ListField => ({
  operators: ["eq", "in"],
  read: idOr("null"),
  expects: "a UUID, or null",
  column,
  type: "id",
})

const yesOrNo = (column: string): ListField => ({
  operators: ["eq"],
  read: truth,
  expects: "true or false",
  column,
  type: "value",
})

/** Filterable fields of stretches. */
export const stretchFilterFields: Record<string, ListField> = {
  assistantId: id("t.assistant_id"),
  personId: id("t.person_id"),
  messenger: word(messengers, "t.messenger"),
  outcome: word(stretchOutcomes, "t.outcome"),
  handOffReason: word(handOffReasons, "t.hand_off_reason"),
  isHandedOff: {
    ...yesOrNo("t.handed_off_at"),
    // Set with the time, and kept sums have this column.
    sql: ({ values: [isHandedOff] }) => (isHandedOff ? sql`t.hand_off_reason is not null` : sql`t.hand_off_reason is null`),
  },
  reopened: yesOrNo("t.reopened"),
  isEnded: {
    ...yesOrNo("t.ended_at"),
    sql: ({ values: [isEnded] }) => (isEnded ? sql`t.ended_at is not null` : sql`t.ended_at is null`),
  },
  rating: {
    operators: ["gte", "lte", "between"],
    read: wordOf(["1", "2", "3", "4", "5"]),
    expects: "1 to 5",
    column: "t.rating",
    type: "value",
    convert: Number,
  },
}

@InputType({ description: "Condition on the outcome of a stretch." })
class StretchOutcomeFilter {
  @Field(() => StretchOutcomeEnum, { nullable: true, description: "Equals this value." }) eq?: StretchOutcome | null
  @Field(() => [StretchOutcomeEnum], { nullable: true, description: "Equals one of these values." }) in?: StretchOutcome[] | null
}

@InputType({ description: "Condition on why AI stopped answering." })
class HandOffReasonFilter {
  @Field(() => HandOffReasonEnum, { nullable: true, description: "Equals this value." }) eq?: HandOffReason | null
  @Field(() => [HandOffReasonEnum], { nullable: true, description: "Equals one of these values." }) in?: HandOffReason[] | null
}

@InputType({ description: "Conditions on stretches; a stretch must meet all of them." })
export class StretchFilters {
  @Field(() => OptionalIdFilter, { nullable: true, description: "ID of the assistant." }) assistantId?: OptionalIdFilter | null
  @Field(() => OptionalIdFilter, { nullable: true, description: "ID of the first person." }) personId?: OptionalIdFilter | null
  @Field(() => MessengerFilter, { nullable: true, description: "Channel of the chat." }) messenger?: MessengerFilter | null
  @Field(() => StretchOutcomeFilter, { nullable: true, description: "Who answered." }) outcome?: StretchOutcomeFilter | null
  @Field(() => HandOffReasonFilter, { nullable: true, description: "Why AI stopped answering." })
  handOffReason?: HandOffReasonFilter | null
  @Field(() => BooleanFilter, { nullable: true, description: "Whether AI stopped answering." }) isHandedOff?: BooleanFilter | null
  @Field(() => BooleanFilter, { nullable: true, description: "Whether the customer wrote again within 72 hours." })
  reopened?: BooleanFilter | null
  @Field(() => BooleanFilter, { nullable: true, description: "Whether the stretch has ended." }) isEnded?: BooleanFilter | null
  @Field(() => NumberFilter, { nullable: true, description: "The rating, 1 to 5." }) rating?: NumberFilter | null
}
