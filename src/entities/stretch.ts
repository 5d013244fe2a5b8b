import { ArrayType } from "@mikro-orm/core"
import { Entity, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { Assistant } from "./assistant.js"
import { type Messenger, MessengerEnum } from "./channel.js"
import { Chat } from "./chat.js"
import { type HandOffReason, HandOffReasonEnum } from "./kit/chat-words.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { type StretchEndReason, StretchEndReasonEnum, type StretchOutcome, StretchOutcomeEnum } from "./kit/stretch-words.js"
import { User } from "./user.js"

@ObjectType({ description: "Numbers of messages in a stretch, by who wrote them; without system messages and tool frames." })
export class StretchMessages {
  @Field(() => Int, { description: "Messages of the customer." })
  customer!: number

  @Field(() => Int, { description: "Messages of the assistant." })
  assistant!: number

  @Field(() => Int, { description: "Messages of people of the company." })
  user!: number
}

@ObjectType({ description: "A time in milliseconds, of AI and of people." })
export class AnswerTime {
  @Field(() => Int, { nullable: true, description: "Of AI; null when it answered nothing." })
  ai!: number | null

  @Field(() => Int, { nullable: true, description: "Of people; null when they answered nothing." })
  people!: number | null
}

const outcome = `case when ended_at is null then null when assistant_messages > 0 and user_messages = 0 then 'AI_ALONE'
  when assistant_messages > 0 then 'AI_THEN_PERSON' when user_messages > 0 then 'PERSON_ALONE' else 'UNANSWERED' end`

/**
 * The facts of a chat between a customer's first message after an end and the next end. Triggers of the database write them in the transaction of
 * each message, change of AI control, tool call and turn (docs/decisions/stretches.md), always after the lock of the chat.
 */
@ObjectType({ description: "What happened in a chat from a customer's first message after an end to the next end." })
@Entity()
@Index({ name: "stretch_newest", expression: "create index stretch_newest on stretch (company_id, started_at desc, id desc)" })
@Index({
  name: "stretch_of_chat",
  expression: "create index stretch_of_chat on stretch (chat_id, started_at desc) where chat_id is not null",
})
@Index({
  name: "stretch_open",
  expression: "create unique index stretch_open on stretch (chat_id) where ended_at is null and chat_id is not null",
})
@Index({
  name: "stretch_rating_due",
  expression: "create index stretch_rating_due on stretch (rating_due_at) where rating_due_at is not null",
})
// Not `ended_at is null`, which the statements of each message say: PostgreSQL would search all open stretches by this index where its statistics are old.
@Index({ name: "stretch_to_check", expression: "create index stretch_to_check on stretch (check_at) where outcome is null" })
export class Stretch extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "ID of the chat; null when it is deleted." })
  @Property({ type: "uuid", nullable: true })
  chatId!: string | null

  @Field(() => MessengerEnum, { description: "Channel of the chat." })
  @Property({ type: "text" })
  messenger!: Messenger

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the assistant that answered first, or else of the one that was assigned at the start.",
  })
  @Property({ type: "uuid", nullable: true })
  assistantId!: string | null

  @Field(() => DateTime, { description: "Time of the customer's first message." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  startedAt!: Date

  @Field(() => DateTime, {
    nullable: true,
    description: "Time of the end; after quiet hours it is the last message plus STRETCH_QUIET_HOURS. Null while the stretch is open.",
  })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endedAt!: Date | null

  @Field(() => StretchEndReasonEnum, { nullable: true, description: "Why it ended; null while it is open." })
  @Property({ type: "text", nullable: true })
  endReason!: StretchEndReason | null

  /** A generated column. */
  @Field(() => StretchOutcomeEnum, { nullable: true, description: "Who answered; null while the stretch is open." })
  @Property({ type: "text", nullable: true, generated: `(${outcome}) stored` })
  outcome!: StretchOutcome | null

  @Field(() => Boolean, { description: "Whether AI alone answered and the customer wrote again within 72 hours after the end." })
  @Property({ type: "boolean", default: false })
  reopened!: boolean

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  lastMessageAt!: Date

  /** When the sweep looks whether the stretch has become quiet: at or before the time when it may have. */
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  checkAt!: Date

  @Property({ type: "integer", default: 0 })
  customerMessages!: number

  @Property({ type: "integer", default: 0 })
  assistantMessages!: number

  @Property({ type: "integer", default: 0 })
  userMessages!: number

  /** Time of the first customer message that nobody has answered. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  waitingSince!: Date | null

  /** Time of the hand-off after which no person has written. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  personDueSince!: Date | null

  /** How long the customer waited for each answer of AI, in milliseconds, of the first 1,000. */
  @Property({ type: new ArrayType(Number), columnType: "int[]", defaultRaw: "'{}'" })
  aiAnswerMs!: number[]

  /** The same of people. */
  @Property({ type: new ArrayType(Number), columnType: "int[]", defaultRaw: "'{}'" })
  peopleAnswerMs!: number[]

  /** Whether AI was on after the last change of AI control. */
  @Property({ type: "boolean" })
  isUnderAi!: boolean

  @Field(() => DateTime, { nullable: true, description: "Time when AI was turned off for the first time; null when it was not." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  handedOffAt!: Date | null

  @Field(() => HandOffReasonEnum, { nullable: true, description: "Why AI was turned off then." })
  @Property({ type: "text", nullable: true })
  handOffReason!: HandOffReason | null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the first user who took the chat over or wrote in it; null when nobody did, or the server does not know who.",
  })
  @Property({ type: "uuid", nullable: true })
  personId!: string | null

  @Field(() => DateTime, { nullable: true, description: "Time when AI was turned on again for the first time after that." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  returnedAt!: Date | null

  @Field(() => Int, { description: "Number of tool calls." })
  @Property({ type: "integer", default: 0 })
  toolCalls!: number

  @Field(() => Int, { description: "Number of tool calls that failed." })
  @Property({ type: "integer", default: 0 })
  toolFailures!: number

  @Field(() => Int, { description: "Number of searches of the knowledge." })
  @Property({ type: "integer", default: 0 })
  knowledgeSearches!: number

  @Field(() => Int, { description: "Number of searches of the knowledge that found nothing." })
  @Property({ type: "integer", default: 0 })
  knowledgeMisses!: number

  @Field(() => Int, { description: "Number of input tokens that the text models reported." })
  @Property({ type: "integer", default: 0 })
  inputTokens!: number

  @Field(() => Int, { description: "Number of output tokens that the text models reported." })
  @Property({ type: "integer", default: 0 })
  outputTokens!: number

  /** When the customer is to be asked by a message of the channel; null when that was done, or is not to be done. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  ratingDueAt!: Date | null

  @Field(() => DateTime, { nullable: true, description: "Time when the customer was asked for a rating." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  ratingAskedAt!: Date | null

  @Field(() => Int, { nullable: true, description: "The customer's rating, 1 to 5; null without one." })
  @Property({ type: "smallint", nullable: true })
  rating!: number | null

  @Field(() => String, { nullable: true, description: "What the customer wrote with the rating; null when the chat is deleted." })
  @Property({ type: "text", nullable: true })
  ratingText!: string | null

  @Field(() => StretchMessages, { description: "Numbers of messages." })
  messages?: StretchMessages

  @Field(() => AnswerTime, {
    description:
      "How long the customer waited for the first answer: since the first message that nobody had answered, or since the hand-off to a person.",
  })
  firstAnswerMs?: AnswerTime

  @Field(() => AnswerTime, { description: "The median of these times over the first 1,000 answers." })
  medianAnswerMs?: AnswerTime

  @Field(() => Chat, { nullable: true, description: "The chat; null when it is deleted." })
  chat?: Chat | null

  @Field(() => Assistant, { nullable: true, description: "The assistant; null when it is deleted." })
  assistant?: Assistant | null

  @Field(() => User, { nullable: true, description: "The person." })
  person?: User | null
}

/** Values of the stretches of this installation; its only row. */
@Entity()
export class StretchSetting {
  @PrimaryKey({ type: "integer", autoincrement: false })
  id!: number

  /** `STRETCH_QUIET_HOURS` of the instance that started last. */
  @Property({ type: "double" })
  quietHours!: number

  /** ID of the last chat whose stretches were made of messages from before there were stretches. */
  @Property({ type: "uuid" })
  rebuiltTo!: string

  /** ID of the last chat of which they are to be made. */
  @Property({ type: "uuid" })
  rebuildUntil!: string
}
