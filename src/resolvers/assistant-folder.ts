import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { AssistantFolder } from "../entities/assistant-folder.js"
import { UUID } from "../entities/kit/scalars.js"
import { Access } from "../graphql/access.js"
import { assistantFolderSource, CreateAssistantFolderInput, UpdateAssistantFolderInput } from "../schema/assistant-folder.js"
import { DeleteResult, deleted, patch } from "../schema/kit/input.js"

@Resolver()
export class AssistantFolderResolver {
  @Access("company")
  @Query(() => [AssistantFolder], { description: "Folders of assistants, by name." })
  assistantFolders(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
  ) {
    return viewer.reader.list(
      assistantFolderSource,
      selectionOf(info),
      (query) => query.orderBy("t.name").orderBy("t.id"),
      viewer.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => AssistantFolder, { description: "Creates an assistant folder." })
  createAssistantFolder(@Ctx() viewer: Viewer, @Arg("input", () => CreateAssistantFolderInput) input: CreateAssistantFolderInput) {
    const folder = Object.assign(new AssistantFolder(), input, { companyId: viewer.company(input.companyId) })
    viewer.em.persist(folder)
    return folder
  }

  @Access("company")
  @Mutation(() => AssistantFolder, { description: "Renames an assistant folder." })
  async updateAssistantFolder(
    @Ctx() viewer: Viewer,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateAssistantFolderInput) input: UpdateAssistantFolderInput,
  ) {
    return patch(viewer, await viewer.find(AssistantFolder, id, "Assistant folder"), input)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes an assistant folder; its assistants are kept." })
  async deleteAssistantFolder(@Ctx() viewer: Viewer, @Arg("id", () => UUID) id: string) {
    return deleted(viewer, await viewer.find(AssistantFolder, id, "Assistant folder"))
  }
}
