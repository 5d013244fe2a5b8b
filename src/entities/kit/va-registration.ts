import { Field, Int, ObjectType } from "type-graphql"

/** How an assistant speaks; kept whole, as JSON. */
@ObjectType({ description: "How an assistant speaks on the phone." })
export class VaRegistration {
  @Field(() => String, { description: "The voice provider that its agent lives at." })
  provider!: string

  @Field(() => String, { nullable: true, description: "The provider's voice; null leaves it to the provider." })
  voiceId!: string | null

  @Field(() => String, { nullable: true, description: "The number that it is reached at, E.164." })
  phoneNumber!: string | null

  @Field(() => String, { nullable: true, description: "What it says first; null: its greeting." })
  firstMessage!: string | null

  @Field(() => Boolean, { description: "Whether the customer can interrupt it." })
  interruptible!: boolean

  @Field(() => Int, { description: "After so many seconds without a word it hangs up." })
  silenceTimeoutSeconds!: number

  @Field(() => Int, { description: "After so many seconds it ends a call." })
  maxDurationSeconds!: number
}
