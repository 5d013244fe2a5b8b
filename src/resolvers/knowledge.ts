import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import type { Query as Sql } from "../database/source.js"
import { Assistant } from "../entities/assistant.js"
import { UUID } from "../entities/kit/scalars.js"
import { Knowledge } from "../entities/knowledge.js"
import { BadUserInput } from "../errors.js"
import { limits } from "../limits.js"
import { Access } from "../schema/kit/access.js"
import { DeleteResult, deleted, patch } from "../schema/kit/input.js"
import { offsetPage } from "../schema/kit/page.js"
import { selectionOf } from "../schema/kit/selection.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { CreateKnowledgeItemInput, KnowledgePage, knowledgeSource, UpdateKnowledgeItemInput } from "../schema/knowledge.js"

function mustSaySomething(text: string | null) {
  if (!text?.trim())
    throw new BadUserInput("resourceContent must not be empty", [{ path: "resourceContent", message: "must not be empty" }])
}

@Resolver()
export class KnowledgeResolver {
  @Access("company")
  @Query(() => KnowledgePage, { description: "Knowledge items, newest first, without their content." })
  async knowledgeItems(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Only this assistant's." }) assistantId?: string,
    @Arg("search", () => String, { nullable: true, description: "Part of the name, in any case." }) search?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "How many, 1 to 100; 20 when absent." }) take?: number,
  ) {
    const filter = (query: Sql) => {
      const found = assistantId ? query.where("t.assistant_id", "=", assistantId) : query
      return search?.trim() ? found.where(sql<boolean>`strpos(lower(t.name), lower(${search.trim()})) > 0`) : found
    }
    const order = (query: Sql) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc")
    const { resourceContent: _unlisted, ...nodes } = selectionOf(info)["nodes"] ?? {}
    const selection = { ...selectionOf(info), nodes }
    return offsetPage(viewer.reader, knowledgeSource, selection, { skip, take, standard: limits.pageDefault }, filter, order)
  }

  @Access("company")
  @Query(() => Knowledge, { nullable: true, description: "One knowledge item, with its content." })
  knowledgeItem(@Ctx() viewer: Viewer, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return viewer.one(knowledgeSource, id, info, "Knowledge item")
  }

  @Access("company")
  @Mutation(() => Knowledge, { description: "Gives an assistant something to know." })
  async createKnowledgeItem(@Ctx() viewer: Viewer, @Arg("input", () => CreateKnowledgeItemInput) input: CreateKnowledgeItemInput) {
    mustSaySomething(input.resourceContent)
    const assistant = await viewer.referred(Assistant, input.assistantId, "assistantId")
    const item = Object.assign(new Knowledge(), input, { companyId: assistant.companyId })
    viewer.em.persist(item)
    return item
  }

  @Access("company")
  @Mutation(() => Knowledge, { description: "Changes a knowledge item." })
  async updateKnowledgeItem(
    @Ctx() viewer: Viewer,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateKnowledgeItemInput) input: UpdateKnowledgeItemInput,
  ) {
    const item = patch(viewer, await viewer.find(Knowledge, id, "Knowledge item"), input)
    mustSaySomething(item.resourceContent)
    return item
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes a knowledge item." })
  async deleteKnowledgeItem(@Ctx() viewer: Viewer, @Arg("id", () => UUID) id: string) {
    return deleted(viewer, await viewer.find(Knowledge, id, "Knowledge item"))
  }
}
