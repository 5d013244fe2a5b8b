import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { testTool } from "../assistant/tool-test.js"
import { flushWithinTurnSize, lockTurnSize } from "../assistant/turn-size.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow, PlainRow, ReadModel } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { AssistantTool, type AssistantToolType, AssistantToolTypeEnum } from "../entities/assistant-tool.js"
import { JSONValue, UUID } from "../entities/kit/scalars.js"
import { assistantReadModel } from "../schema/assistant.js"
import {
  AssistantToolPage,
  assistantToolReadModel,
  CreateAssistantToolInput,
  checkTool,
  UpdateAssistantToolInput,
} from "../schema/assistant-tool.js"
import { IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange, patch } from "../schema/kit/input.js"
import { offsetPage } from "../schema/kit/page.js"
import { ToolTestResult } from "../schema/tool-call.js"
import { resolverLimits } from "./limits.js"

function applyInput(context: RequestContext, tool: AssistantTool, { webhookSecret, ...fields }: UpdateAssistantToolInput) {
  const address = tool.apiCallUrl
  patch(context, tool, { ...fields, apiCallUrl: fields.apiCallUrl === "" ? null : fields.apiCallUrl })
  tool.dropSecretOfOtherOrigin(address)
  if (webhookSecret !== undefined) tool.keepSecret(webhookSecret, context.services.secrets.encryptionKey)
  tool.mustHaveAddress()
  return tool
}

/** Checks an input outside of any transaction, since the check of `params` may wait; the company of the row with this id pays for it. */
const check = <N extends "Assistant" | "AssistantTool">(
  context: RequestContext,
  input: UpdateAssistantToolInput,
  model: ReadModel<N>,
  id: string,
) =>
  checkTool(input, (params) =>
    context.services.toolSchemas.faultOfParams(params, async () => {
      const row: PlainRow | null = await context.reader.byId(model, id, {})
      return row ? String(row["companyId"]) : context.companyIds[0]!
    }),
  )

/** Schedules an update of the voice agent of a tool's assistant. */
async function resyncAgent({ em }: RequestContext, { assistantId }: AssistantTool) {
  const assistant = await em.findOne(Assistant, { id: assistantId })
  assistant?.toolsChanged()
}

/** Writes a tool and reads it as the mutation returns it. */
async function written(tx: RequestContext, tool: AssistantTool, info: GraphQLResolveInfo) {
  await tx.unit.flush()
  return tx.one(assistantToolReadModel, tool.id, info, "Tool")
}

@Resolver()
export class AssistantToolResolver {
  @Access("company")
  @Query(() => AssistantToolPage, { description: "Tools of assistants, newest first." })
  assistantTools(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("assistantId", () => UUID, { nullable: true, description: "ID of an assistant; returns only the tools of this assistant." })
    assistantId?: string,
    @Arg("search", () => String, { nullable: true, description: "Text to find in the name or the description, regardless of case." })
    search?: string,
    @Arg("types", () => [AssistantToolTypeEnum], { nullable: true, description: "Types of tools; returns only tools of one of them." })
    types?: AssistantToolType[],
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) take?: number,
  ) {
    const filter: Narrow<"AssistantTool"> = (query) => {
      const ofAssistant = assistantId ? query.where("t.assistant_id", "=", assistantId) : query
      const found = types ? ofAssistant.where(sql<boolean>`t.type = any(${types}::text[])`) : ofAssistant
      const part = search?.trim()
      if (!part) return found
      return found.where(sql<boolean>`(strpos(lower(t.name), lower(${part})) > 0 or strpos(lower(t.description), lower(${part})) > 0)`)
    }
    const order: Narrow<"AssistantTool"> = (query) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc")
    return offsetPage(
      context.reader,
      assistantToolReadModel,
      selectionOf(info),
      { skip, take, defaultTake: resolverLimits.pageDefault },
      filter,
      order,
    )
  }

  @Access("company")
  @Query(() => AssistantTool, { nullable: true, description: "A tool." })
  assistantTool(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("tool") id: string) {
    return context.one(assistantToolReadModel, id, info, "Tool")
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => AssistantTool, { description: "Creates a tool of an assistant." })
  async createAssistantTool(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateAssistantToolInput) input: CreateAssistantToolInput,
  ) {
    const { assistantId, ...fields } = input
    await check(context, fields, assistantReadModel, assistantId)
    return context.transaction(async (tx) => {
      const assistant = await tx.referred(Assistant, assistantId, "assistantId")
      await lockTurnSize(tx, assistantId)
      const tool = Object.assign(new AssistantTool(), { assistantId, companyId: assistant.companyId })
      assistant.toolsChanged()
      tx.em.persist(applyInput(tx, tool, { ...fields, httpMethod: fields.httpMethod ?? undefined }))
      await flushWithinTurnSize(tx, assistantId)
      return written(tx, tool, info)
    })
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => AssistantTool, { description: "Changes a tool." })
  async updateAssistantTool(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @IdArg("tool") id: string,
    @Arg("input", () => UpdateAssistantToolInput) input: UpdateAssistantToolInput,
  ) {
    await check(context, input, assistantToolReadModel, id)
    return context.transaction(async (tx) => {
      const { webhookSecret: _secret, ...columns } = input
      const tool = await findToChange(tx, AssistantTool, id, columns, "Tool")
      tool.mustAllow(Object.entries(input).flatMap(([field, value]) => (value === undefined ? [] : [field])))
      const changed = applyInput(tx, tool, input)
      await resyncAgent(tx, tool)
      if (input.params !== undefined) await flushWithinTurnSize(tx, tool.assistantId)
      return written(tx, changed, info)
    })
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes a tool and the log of its calls. A system tool cannot be deleted." })
  async deleteAssistantTool(@Ctx() context: RequestContext, @IdArg("tool") id: string) {
    const tool = await context.find(AssistantTool, id, "Tool")
    tool.mustBeDeletable()
    await resyncAgent(context, tool)
    return deleted(context, tool)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => ToolTestResult, {
    description: "Sends a real request to the endpoint of a tool, as the assistant does, and logs the call.",
  })
  testAssistantTool(
    @Ctx() context: RequestContext,
    @IdArg("tool") id: string,
    @Arg("params", () => JSONValue, { nullable: true, description: "Arguments of the call. Default: none." })
    params?: Record<string, unknown> | null,
  ) {
    return testTool(context, id, params ?? {})
  }
}
