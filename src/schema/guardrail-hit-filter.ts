import { Field, InputType } from "type-graphql"
import {
  type GuardrailAction,
  GuardrailActionEnum,
  type GuardrailDirection,
  GuardrailDirectionEnum,
  type GuardrailRule,
  GuardrailRuleEnum,
  guardrailDirections,
  guardrailHitActions,
  guardrailRules,
} from "../entities/kit/guardrail-words.js"
import { wordOf } from "./kit/filter.js"
import { DayFilter, days, IdFilter, ids } from "./kit/filter-inputs.js"
import type { ListField } from "./kit/filter-sql.js"

const word = (list: readonly string[], column: string): ListField => ({
  operators: ["eq", "in"],
  read: wordOf(list),
  expects: `one of ${list.join(", ")}`,
  column,
  type: "value",
})

/** Filterable fields of guardrail hits. */
export const guardrailHitFilterFields: Record<string, ListField> = {
  rule: word(guardrailRules, "t.rule"),
  direction: word(guardrailDirections, "t.direction"),
  action: word(guardrailHitActions, "t.action"),
  chatId: { ...ids, column: "t.chat_id", type: "id" },
  callId: { ...ids, column: "t.call_id", type: "id" },
  assistantId: { ...ids, column: "t.assistant_id", type: "id" },
  messageId: { ...ids, column: "t.message_id", type: "id" },
  createdAt: { ...days, column: "t.created_at", type: "day" },
}

@InputType({ description: "Condition on the rule of a hit." })
class GuardrailRuleFilter {
  @Field(() => GuardrailRuleEnum, { nullable: true, description: "Equals this value." }) eq?: GuardrailRule | null
  @Field(() => [GuardrailRuleEnum], { nullable: true, description: "Equals one of these values." }) in?: GuardrailRule[] | null
}

@InputType({ description: "Condition on whose text was hit." })
class GuardrailDirectionFilter {
  @Field(() => GuardrailDirectionEnum, { nullable: true, description: "Equals this value." }) eq?: GuardrailDirection | null
  @Field(() => [GuardrailDirectionEnum], { nullable: true, description: "Equals one of these values." }) in?: GuardrailDirection[] | null
}

@InputType({ description: "Condition on what happened to the text." })
class GuardrailActionFilter {
  @Field(() => GuardrailActionEnum, { nullable: true, description: "Equals this value." }) eq?: GuardrailAction | null
  @Field(() => [GuardrailActionEnum], { nullable: true, description: "Equals one of these values." }) in?: GuardrailAction[] | null
}

@InputType({ description: "Conditions on guardrail hits; a hit must meet all of them." })
export class GuardrailHitWhere {
  @Field(() => GuardrailRuleFilter, { nullable: true, description: "The rule." }) rule?: GuardrailRuleFilter | null
  @Field(() => GuardrailDirectionFilter, { nullable: true, description: "Whose text was hit." }) direction?: GuardrailDirectionFilter | null
  @Field(() => GuardrailActionFilter, { nullable: true, description: "What happened to the text." }) action?: GuardrailActionFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the chat." }) chatId?: IdFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the call." }) callId?: IdFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the assistant." }) assistantId?: IdFilter | null
  @Field(() => IdFilter, { nullable: true, description: "ID of the message." }) messageId?: IdFilter | null
  @Field(() => DayFilter, { nullable: true, description: "When the text was hit." }) createdAt?: DayFilter | null
}
