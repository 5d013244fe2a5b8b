import { Entity, Index, Property } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { Assistant } from "./assistant.js"
import { Chat } from "./chat.js"
import {
  type GuardrailAction,
  GuardrailActionEnum,
  type GuardrailDirection,
  GuardrailDirectionEnum,
  type GuardrailRule,
  GuardrailRuleEnum,
} from "./kit/guardrail-words.js"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { Message } from "./message.js"

@ObjectType({ description: "A text that a rule of an assistant's guardrails hit, without what was found in it." })
@Entity()
@Index({
  name: "guardrail_hit_newest",
  expression: "create index guardrail_hit_newest on guardrail_hit (company_id, created_at desc, id desc)",
})
@Index({ name: "guardrail_hit_chat", expression: "create index guardrail_hit_chat on guardrail_hit (chat_id) where chat_id is not null" })
@Index({ name: "guardrail_hit_call", expression: "create index guardrail_hit_call on guardrail_hit (call_id) where call_id is not null" })
@Index({
  name: "guardrail_hit_message",
  expression: "create index guardrail_hit_message on guardrail_hit (message_id) where message_id is not null",
})
@Index({
  name: "guardrail_hit_assistant",
  expression: "create index guardrail_hit_assistant on guardrail_hit (assistant_id) where assistant_id is not null",
})
@Index({
  name: "guardrail_hit_excerpt",
  expression: "create index guardrail_hit_excerpt on guardrail_hit (created_at) where excerpt is not null",
})
export class GuardrailHit extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "ID of the chat; null for a call." })
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the call; null for a chat." })
  @Property({ type: "uuid", nullable: true })
  callId: string | null = null

  @Field(() => UUID, {
    nullable: true,
    description:
      "ID of the message: the customer's, or the assistant's that was stored, which of a stopped answer has the sentence. Null when none was stored, or it is deleted.",
  })
  @Property({ type: "uuid", nullable: true })
  messageId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the assistant; null when it is deleted." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => GuardrailRuleEnum, { description: "The rule." })
  @Property({ type: "text" })
  rule!: GuardrailRule

  @Field(() => GuardrailDirectionEnum, { description: "Whose text it judged." })
  @Property({ type: "text" })
  direction!: GuardrailDirection

  @Field(() => GuardrailActionEnum, { description: "What happened to the text." })
  @Property({ type: "text" })
  action!: GuardrailAction

  @Field(() => String, {
    description:
      "Why, as a word for programs: card_number, iban, email, phone, word:N and pattern:N (counted from 1), foreign_host, no_source, too_long, out_of_scope.",
  })
  @Property({ type: "text" })
  reason!: string

  @Field(() => String, {
    nullable: true,
    description: "The text around what was found, with that and all personal data replaced by ••••; null where there is none.",
  })
  @Property({ type: "text", nullable: true })
  excerpt: string | null = null

  @Field(() => Chat, { nullable: true, description: "The chat; null for a call." })
  chat?: Chat | null

  @Field(() => Message, { nullable: true, description: "The message, if it is stored." })
  message?: Message | null

  @Field(() => Assistant, { nullable: true, description: "The assistant; null when it is deleted." })
  assistant?: Assistant | null

  /** Emits the event GUARDRAIL_HIT. */
  recorded() {
    this.emit({
      type: "GUARDRAIL_HIT",
      companyId: this.companyId,
      chatId: this.chatId,
      payload: { row: "GuardrailHit", id: this.id },
    })
    return this
  }
}
