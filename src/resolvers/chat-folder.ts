import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { lockChatsOf, unfileChats } from "../chats/chat-folder.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import { selectionOf } from "../context/selection.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { CreateChatFolderInput, chatFolderReadModel, UpdateChatFolderInput } from "../schema/chat-folder.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange, patch } from "../schema/kit/input.js"

@Resolver()
export class ChatFolderResolver {
  @Access("company")
  @Query(() => [ChatFolder], { description: "Chat folders, sorted by name." })
  chatFolders(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    return context.reader.list(
      chatFolderReadModel,
      selectionOf(info),
      (query) => query.orderBy("t.name").orderBy("t.id"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Creates a chat folder." })
  async createChatFolder(@Ctx() context: RequestContext, @Arg("input", () => CreateChatFolderInput) input: CreateChatFolderInput) {
    const companyId = context.company(input.companyId)
    await mustHaveRoom(context, ChatFolder, companyId, "chat folders")
    const folder = patch(context, new ChatFolder(), { ...input, companyId })
    context.em.persist(folder)
    return folder
  }

  @Access("company")
  @Mutation(() => ChatFolder, { description: "Changes the name or the color of a chat folder." })
  async updateChatFolder(
    @Ctx() context: RequestContext,
    @IdArg("chat folder") id: string,
    @Arg("input", () => UpdateChatFolderInput) input: UpdateChatFolderInput,
  ) {
    return patch(context, await findToChange(context, ChatFolder, id, input, "Chat folder"), input)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteResult, { description: "Deletes a chat folder. The chats in it are kept, in no folder." })
  async deleteChatFolder(@Ctx() context: RequestContext, @IdArg("chat folder") id: string) {
    await context.transaction((tx) => tx.find(ChatFolder, id, "Chat folder"))
    await unfileChats(context, id)
    return context.transaction(async (tx) => {
      await lockChatsOf(tx, id)
      // They, and those that were moved into the folder meanwhile, leave it by `on delete set null`.
      return deleted(tx, await tx.find(ChatFolder, id, "Chat folder"))
    })
  }
}
