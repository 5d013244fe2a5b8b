import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { flushWithinTurnSize, lockTurnSize } from "../assistant/turn-size.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { UUID } from "../entities/kit/scalars.js"
import { Knowledge } from "../entities/knowledge.js"
import { entityLimits } from "../entities/limits.js"
import { NotFound } from "../errors/errors.js"
import { attachFile, giveText, type ReadFile, withText } from "../knowledge/files.js"
import { IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange, patch } from "../schema/kit/input.js"
import { offsetPage } from "../schema/kit/page.js"
import { CreateKnowledgeItemInput, KnowledgePage, knowledgeReadModel, UpdateKnowledgeItemInput } from "../schema/knowledge.js"
import { resolverLimits } from "./limits.js"

@Resolver()
export class KnowledgeResolver {
  @Access("company")
  @Query(() => KnowledgePage, { description: "Knowledge items, newest first, without resourceContent." })
  async knowledgeItems(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("assistantId", () => UUID, { nullable: true, description: "ID of an assistant; returns only the items of this assistant." })
    assistantId?: string,
    @Arg("search", () => String, { nullable: true, description: "Text to find in the name, regardless of case." }) search?: string,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) take?: number,
  ) {
    const filter: Narrow<"Knowledge"> = (query) => {
      const found = assistantId ? query.where("t.assistant_id", "=", assistantId) : query
      return search?.trim() ? found.where(sql<boolean>`strpos(lower(t.name), lower(${search.trim()})) > 0`) : found
    }
    const order: Narrow<"Knowledge"> = (query) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc")
    const { resourceContent: _unlisted, ...nodes } = selectionOf(info)["nodes"] ?? {}
    const selection = { ...selectionOf(info), nodes }
    return offsetPage(context.reader, knowledgeReadModel, selection, { skip, take, defaultTake: resolverLimits.pageDefault }, filter, order)
  }

  @Access("company")
  @Query(() => Knowledge, { nullable: true, description: "A knowledge item with its content." })
  knowledgeItem(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("knowledge item") id: string) {
    return context.one(knowledgeReadModel, id, info, "Knowledge item")
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Knowledge, { description: "Creates a knowledge item of an assistant. A searchable item is indexed in the background." })
  async createKnowledgeItem(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateKnowledgeItemInput) input: CreateKnowledgeItemInput,
  ) {
    const id = await withText(context, async (tx, read) => {
      const { companyId } = await tx.referred(Assistant, input.assistantId, "assistantId")
      await lockTurnSize(tx, input.assistantId)
      const item = Object.assign(new Knowledge(), { companyId, kind: input.kind })
      item.assertSourceFields(input)
      Object.assign(item, defaults(input), given(input))
      tx.em.persist(item)
      return applyRules(tx, item, input, {}, read)
    })
    return readItem(context, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Knowledge, { description: "Changes a knowledge item." })
  async updateKnowledgeItem(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @IdArg("knowledge item") id: string,
    @Arg("input", () => UpdateKnowledgeItemInput) input: UpdateKnowledgeItemInput,
  ) {
    await withText(context, async (tx, read) => {
      const item = await findToChange(tx, Knowledge, id, input, "Knowledge item")
      const before = { resourceUrl: item.resourceUrl, fileId: item.fileId }
      item.assertSourceFields(input)
      return applyRules(tx, patch(tx, item, input), input, before, read)
    })
    return readItem(context, id, info)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes a knowledge item and its index." })
  async deleteKnowledgeItem(@Ctx() context: RequestContext, @IdArg("knowledge item") id: string) {
    const item = await context.find(Knowledge, id, "Knowledge item")
    item.scheduleFileRemoval()
    return deleted(context, item)
  }
}

/** Reads an item after its change, in a new read. */
async function readItem(context: RequestContext, id: string, info: GraphQLResolveInfo) {
  const row = await context.reader.byId(knowledgeReadModel, id, selectionOf(info))
  if (!row) throw new NotFound("Knowledge item")
  return row
}

/** Defaults of a new item: an overlap that fits its chunk size. */
const defaults = ({ chunkSize }: CreateKnowledgeItemInput) => ({
  chunkOverlap: Math.min(
    entityLimits.chunkOverlapDefault,
    Math.floor((chunkSize ?? entityLimits.chunkSizeDefault) * entityLimits.chunkOverlapMaxShare),
  ),
})

/** The fields of an input without null and absent ones, which mean the same for a new item. */
const given = (input: object) => Object.fromEntries(Object.entries(input).filter(([, value]) => value != null))

/** Applies the rules of an item to a change, and returns its ID. */
async function applyRules(
  context: RequestContext,
  item: Knowledge,
  input: UpdateKnowledgeItemInput,
  before: UpdateKnowledgeItemInput,
  read: ReadFile | null,
): Promise<string> {
  item.afterUpdate(input, before)
  if (item.kind === "file") giveText(item, await attachFile(context, item), read)
  if (!item.isVector) await flushWithinTurnSize(context, item.assistantId)
  return item.id
}
