import { Field, Float, Int, ObjectType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { JSONValue } from "../entities/kit/scalars.js"
import { ToolCall } from "../entities/tool-call.js"
import { pageOf } from "./kit/page.js"

export const toolCallReadModel = readModel("ToolCall")
export const toolCallTallyReadModel = readModel("ToolCallTally")

@ObjectType({ description: "Statistics over all calls of a tool, regardless of page and status filter." })
export class ToolCallStats {
  @Field(() => Int, { description: "Number of calls." })
  total!: number

  @Field(() => Int, { description: "Number of calls that succeeded." })
  success!: number

  @Field(() => Int, { description: "Number of calls that failed." })
  error!: number

  @Field(() => Int, { description: "Number of calls that are pending." })
  pending!: number

  @Field(() => Float, { nullable: true, description: "Share of completed calls that succeeded, 0 to 1; null while no call has completed." })
  successRate!: number | null

  @Field(() => Float, {
    nullable: true,
    description: "Mean response time of completed calls, in milliseconds; null while no call has completed.",
  })
  averageLatencyMs!: number | null
}

@ObjectType({ description: "A page of tool calls, newest first, with statistics over all calls of the tool." })
export class ToolCallPage extends pageOf(ToolCall, "tool calls") {
  @Field(() => ToolCallStats, { description: "Statistics over all calls of the tool." })
  stats!: ToolCallStats
}

@ObjectType({ description: "The result of a test call of a tool." })
export class ToolTestResult {
  @Field(() => Boolean, { description: "Whether the endpoint responded with a 2xx status." })
  success!: boolean

  @Field(() => Int, { nullable: true, description: "HTTP status of the response." })
  status!: number | null

  @Field(() => Int, { description: "Response time, in milliseconds." })
  latencyMs!: number

  @Field(() => JSONValue, { nullable: true, description: "Response body: parsed if it is JSON, otherwise text." })
  body!: unknown

  @Field(() => String, { nullable: true, description: "Why the call failed, in one sentence; null when it succeeded." })
  error!: string | null
}
