import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import { selectionOf } from "../context/selection.js"
import { AssistantFolder } from "../entities/assistant-folder.js"
import { assistantFolderReadModel, CreateAssistantFolderInput, UpdateAssistantFolderInput } from "../schema/assistant-folder.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange, patch } from "../schema/kit/input.js"

@Resolver()
export class AssistantFolderResolver {
  @Access("company")
  @Query(() => [AssistantFolder], { description: "Assistant folders, sorted by name." })
  assistantFolders(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    return context.reader.list(
      assistantFolderReadModel,
      selectionOf(info),
      (query) => query.orderBy("t.name").orderBy("t.id"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => AssistantFolder, { description: "Creates an assistant folder." })
  async createAssistantFolder(
    @Ctx() context: RequestContext,
    @Arg("input", () => CreateAssistantFolderInput) input: CreateAssistantFolderInput,
  ) {
    const companyId = context.company(input.companyId)
    await mustHaveRoom(context, AssistantFolder, companyId, "assistant folders")
    const folder = Object.assign(new AssistantFolder(), input, { companyId })
    context.em.persist(folder)
    return folder
  }

  @Access("company")
  @Mutation(() => AssistantFolder, { description: "Renames an assistant folder." })
  async updateAssistantFolder(
    @Ctx() context: RequestContext,
    @IdArg("assistant folder") id: string,
    @Arg("input", () => UpdateAssistantFolderInput) input: UpdateAssistantFolderInput,
  ) {
    return patch(context, await findToChange(context, AssistantFolder, id, input, "Assistant folder"), input)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes an assistant folder. The assistants in it are kept." })
  async deleteAssistantFolder(@Ctx() context: RequestContext, @IdArg("assistant folder") id: string) {
    return deleted(context, await context.find(AssistantFolder, id, "Assistant folder"))
  }
}
