import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { unfileChats } from "../chats/chat-folder.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { UUID } from "../entities/kit/scalars.js"
import { CreateChatFolderInput, chatFolderReadModel, UpdateChatFolderInput } from "../schema/chat-folder.js"
import { DeleteResult, deleted, patch, refuseNulls } from "../schema/kit/input.js"

@Resolver()
export class ChatFolderResolver {
  @Access("company")
  @Query(() => [ChatFolder], { description: "Folders of the inbox, by name." })
  chatFolders(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
  ) {
    return context.reader.list(
      chatFolderReadModel,
      selectionOf(info),
      (query) => query.orderBy("t.name").orderBy("t.id"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Creates a chat folder." })
  createChatFolder(@Ctx() context: RequestContext, @Arg("input", () => CreateChatFolderInput) input: CreateChatFolderInput) {
    const folder = patch(context, new ChatFolder(), { ...input, companyId: context.company(input.companyId) })
    context.em.persist(folder)
    return folder
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Renames or recolors a chat folder." })
  async updateChatFolder(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateChatFolderInput) input: UpdateChatFolderInput,
  ) {
    refuseNulls(context, ChatFolder, input)
    return patch(context, await context.find(ChatFolder, id, "Chat folder"), input)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteResult, { description: "Deletes a chat folder; its chats are kept, unfiled." })
  async deleteChatFolder(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    await context.transaction((tx) => tx.find(ChatFolder, id, "Chat folder"))
    await unfileChats(context, id)
    // What was filed meanwhile is unfiled with the folder.
    return context.transaction(async (tx) => deleted(tx, await tx.find(ChatFolder, id, "Chat folder")))
  }
}
