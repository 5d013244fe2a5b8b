import { Field, Int, ObjectType } from "type-graphql"

/** Voice settings of an assistant, stored as one JSON value. */
@ObjectType({ description: "Voice settings of an assistant." })
export class VaRegistration {
  @Field(() => String, { description: "Name of the voice provider that runs the voice agent." })
  provider!: string

  @Field(() => String, { nullable: true, description: "ID of the voice at the provider; null means the provider's default." })
  voiceId!: string | null

  @Field(() => String, { nullable: true, description: "Telephone number of the assistant, in E.164 format." })
  phoneNumber!: string | null

  @Field(() => String, { nullable: true, description: "First sentence of a call; null means the greeting of the assistant." })
  firstMessage!: string | null

  @Field(() => Boolean, { description: "Whether the customer can interrupt the assistant." })
  interruptible!: boolean

  @Field(() => Int, { description: "Silence in seconds after which the assistant ends the call." })
  silenceTimeoutSeconds!: number

  @Field(() => Int, { description: "Maximum duration of a call in seconds." })
  maxDurationSeconds!: number
}
