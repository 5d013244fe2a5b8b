import { Field, Float, Int, ObjectType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { JSONValue } from "../entities/kit/scalars.js"
import { ToolCall } from "../entities/tool-call.js"
import { pageOf } from "./kit/page.js"

export const toolCallReadModel = readModel("ToolCall")
export const toolCallTallyReadModel = readModel("ToolCallTally")

@ObjectType({ description: "Sums over all calls of a tool, whatever the page shows." })
export class ToolCallStats {
  @Field(() => Int, { description: "Calls." })
  total!: number

  @Field(() => Int, { description: "Calls that succeeded." })
  success!: number

  @Field(() => Int, { description: "Calls that failed." })
  error!: number

  @Field(() => Int, { description: "Calls that are under way." })
  pending!: number

  @Field(() => Float, { nullable: true, description: "Share of the ended calls that succeeded, 0 to 1; null while none has ended." })
  successRate!: number | null

  @Field(() => Float, { nullable: true, description: "Mean latency of the ended calls, in milliseconds; null while none has ended." })
  averageLatencyMs!: number | null
}

@ObjectType({ description: "A page of tool calls, newest first, with sums over all of them." })
export class ToolCallPage extends pageOf(ToolCall, "tool calls") {
  @Field(() => ToolCallStats, { description: "Sums over all calls of the tool." })
  stats!: ToolCallStats
}

@ObjectType({ description: "What a test of a tool came to." })
export class ToolTestResult {
  @Field(() => Boolean, { description: "Whether the endpoint answered with a 2xx status." })
  success!: boolean

  @Field(() => Int, { nullable: true, description: "The endpoint's HTTP status." })
  status!: number | null

  @Field(() => Int, { description: "How long it took, in milliseconds." })
  latencyMs!: number

  @Field(() => JSONValue, { nullable: true, description: "What it answered: parsed when it was JSON, else text." })
  body!: unknown

  @Field(() => String, { nullable: true, description: "Why it failed, in one sentence." })
  error!: string | null
}
