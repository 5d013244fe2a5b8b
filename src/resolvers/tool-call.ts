import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { answerCall } from "../assistant/client-call.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow, Selection } from "../database/read-model.js"
import { JSONValue, UUID } from "../entities/kit/scalars.js"
import { ToolCall, type ToolCallStatus, ToolCallStatusEnum } from "../entities/tool-call.js"
import { NotFound } from "../errors/errors.js"
import { assistantToolReadModel } from "../schema/assistant-tool.js"
import { offsetPage } from "../schema/kit/page.js"
import { ToolCallPage, type ToolCallStats, toolCallReadModel, toolCallTallyReadModel } from "../schema/tool-call.js"
import { resolverLimits } from "./limits.js"

const tallyFields: Selection = { total: {}, success: {}, error: {}, latencyMs: {}, timed: {} }

async function statsOf(context: RequestContext, toolId: string): Promise<ToolCallStats> {
  const [row] = await context.reader.list(toolCallTallyReadModel, tallyFields, (query) => query.where("t.tool_id", "=", toolId))
  const [total, success, error, latency, timed] = Object.keys(tallyFields).map((name) => Number(row?.[name] ?? 0)) as number[]
  const ended = success! + error!
  return {
    total: total!,
    success: success!,
    error: error!,
    pending: total! - ended,
    successRate: ended > 0 ? success! / ended : null,
    averageLatencyMs: timed! > 0 ? latency! / timed! : null,
  }
}

@Resolver()
export class ToolCallResolver {
  @Access("company")
  @Query(() => ToolCallPage, { description: "Calls of a tool, including tests, newest first." })
  async toolCalls(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("toolId", () => UUID, { description: "ID of the tool." }) toolId: string,
    @Arg("status", () => ToolCallStatusEnum, { nullable: true, description: "Returns only calls with this status." })
    status?: ToolCallStatus,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) take?: number,
  ) {
    const { totalCount, ...selection } = selectionOf(info)
    const filter: Narrow<"ToolCall"> = (query) => {
      const found = query.where("t.tool_id", "=", toolId)
      return status ? found.where("t.status", "=", status) : found
    }
    const order: Narrow<"ToolCall"> = (query) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc")
    const [tool, page, stats] = await Promise.all([
      context.reader.byId(assistantToolReadModel, toolId, {}),
      offsetPage(context.reader, toolCallReadModel, selection, { skip, take, defaultTake: resolverLimits.pageDefault }, filter, order),
      totalCount || selection["stats"] ? statsOf(context, toolId) : null,
    ])
    if (!tool) throw new NotFound("Tool")
    // The totals of the tool contain the count of each status, so no query counts rows.
    return { ...page, totalCount: stats?.[status ?? "total"], stats }
  }

  @Access("company")
  @Mutation(() => ToolCall, {
    description: "Sends the output of a tool of type WEBHOOK_CLIENT, which the event TOOL_CALL_REQUESTED asked for.",
  })
  answerToolCall(
    @Ctx() context: RequestContext,
    @Arg("toolCallId", () => UUID, { description: "ID of the tool call (callId of the event)." }) toolCallId: string,
    @Arg("output", () => JSONValue, { nullable: true, description: "Output of the tool, as JSON; given to the assistant." })
    output: unknown,
  ) {
    return answerCall(context, toolCallId, output)
  }
}
