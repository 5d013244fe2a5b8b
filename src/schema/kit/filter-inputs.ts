import { Field, InputType, Int } from "type-graphql"
import { type Messenger, MessengerEnum } from "../../entities/channel.js"
import { UUID } from "../../entities/kit/scalars.js"
import { day, type FilterField, idOr } from "./filter.js"

@InputType({ description: "Condition on an ID." })
export class IdFilter {
  @Field(() => UUID, { nullable: true, description: "Equals this value." }) eq?: string | null
  @Field(() => [UUID], { nullable: true, description: "Equals one of these values." }) in?: string[] | null
}

@InputType({ description: "Condition on an ID. `null` means that no ID is set." })
export class OptionalIdFilter {
  @Field(() => String, { nullable: true, description: "Equals this value." }) eq?: string | null
  @Field(() => [String], { nullable: true, description: "Equals one of these values." }) in?: string[] | null
}

@InputType({ description: "Condition on the channel." })
export class MessengerFilter {
  @Field(() => MessengerEnum, { nullable: true, description: "Equals this value." }) eq?: Messenger | null
  @Field(() => [MessengerEnum], { nullable: true, description: "Equals one of these values." }) in?: Messenger[] | null
}

@InputType({ description: "Condition on a boolean." })
export class BooleanFilter {
  @Field(() => Boolean, { nullable: true, description: "Equals this value." }) eq?: boolean | null
}

@InputType({ description: "Condition on a time, by whole days in UTC (YYYY-MM-DD)." })
export class DayFilter {
  @Field(() => String, { nullable: true, description: "On this day or later." }) gte?: string | null
  @Field(() => String, { nullable: true, description: "On this day or earlier." }) lte?: string | null
  @Field(() => [String], { nullable: true, description: "Two days: from the first to the second, both included." }) between?:
    | string[]
    | null
}

@InputType({ description: "Condition on a whole number." })
export class NumberFilter {
  @Field(() => Int, { nullable: true, description: "At least this value." }) gte?: number | null
  @Field(() => Int, { nullable: true, description: "At most this value." }) lte?: number | null
  @Field(() => [Int], { nullable: true, description: "Two values: from the first to the second, both included." }) between?: number[] | null
}

/** A field with an ID. */
export const ids: FilterField = { operators: ["eq", "in"], read: idOr(), expects: "a UUID" }

/** A field with a time. */
export const days: FilterField = { operators: ["gte", "lte", "between"], read: day, expects: "a day, YYYY-MM-DD" }
