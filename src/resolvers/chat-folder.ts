import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { ChatFolder } from "../entities/chat-folder.js"
import { UUID } from "../entities/kit/scalars.js"
import { CreateChatFolderInput, chatFolderSource, UpdateChatFolderInput } from "../schema/chat-folder.js"
import { Access } from "../schema/kit/access.js"
import { DeleteResult, deleted, patch } from "../schema/kit/input.js"
import { selectionOf } from "../schema/kit/selection.js"
import type { Viewer } from "../schema/kit/viewer.js"

@Resolver()
export class ChatFolderResolver {
  @Access("company")
  @Query(() => [ChatFolder], { description: "Folders of the inbox, by name." })
  chatFolders(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
  ) {
    return viewer.reader.list(
      chatFolderSource,
      selectionOf(info),
      (query) => query.orderBy("t.name").orderBy("t.id"),
      viewer.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Creates a chat folder." })
  createChatFolder(@Ctx() viewer: Viewer, @Arg("input", () => CreateChatFolderInput) input: CreateChatFolderInput) {
    const folder = patch(viewer, new ChatFolder(), { ...input, companyId: viewer.company(input.companyId) })
    viewer.em.persist(folder)
    return folder
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Renames or recolors a chat folder." })
  async updateChatFolder(
    @Ctx() viewer: Viewer,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateChatFolderInput) input: UpdateChatFolderInput,
  ) {
    return patch(viewer, await viewer.find(ChatFolder, id, "Chat folder"), input)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes a chat folder; its chats are kept, unfiled." })
  async deleteChatFolder(@Ctx() viewer: Viewer, @Arg("id", () => UUID) id: string) {
    return deleted(viewer, await viewer.find(ChatFolder, id, "Chat folder"))
  }
}
