import { Field, ObjectType } from "type-graphql"
import { JSONValue, UUID } from "./scalars.js"

@ObjectType({ description: "A tool call by the assistant." })
export class FunctionCall {
  @Field(() => UUID, { description: "ID of the tool call; its output has the same ID." })
  callId!: string

  @Field(() => String, { description: "Name of the tool." })
  name!: string

  @Field(() => JSONValue, { nullable: true, description: "Arguments of the tool call." })
  arguments!: unknown
}

@ObjectType({ description: "The output of a tool call." })
export class FunctionCallOutput {
  @Field(() => UUID, { description: "ID of the tool call." })
  callId!: string

  @Field(() => JSONValue, { nullable: true, description: "Response of the tool." })
  output!: unknown

  @Field(() => String, { description: "Result of the tool call: success, error or cancelled." })
  status!: "success" | "error" | "cancelled"
}

/** The message with the output of a tool call, before it has a position in the chat. */
export interface OutputFrame {
  chatId: string
  role: "Assistant"
  type: "FunctionCallOutput"
  functionCallOutput: FunctionCallOutput
}

/** Creates the message with the output of a tool call. */
export const outputFrame = (chatId: string, callId: string, status: FunctionCallOutput["status"], output: unknown): OutputFrame => ({
  chatId,
  role: "Assistant",
  type: "FunctionCallOutput",
  functionCallOutput: { callId, output, status },
})
