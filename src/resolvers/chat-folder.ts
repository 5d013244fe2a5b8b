import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { inBatches } from "../context/batches.js"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { UUID } from "../entities/kit/scalars.js"
import { Access } from "../graphql/access.js"
import { limits } from "../limits.js"
import { CreateChatFolderInput, chatFolderSource, UpdateChatFolderInput } from "../schema/chat-folder.js"
import { DeleteResult, deleted, patch, refuseNulls } from "../schema/kit/input.js"

const unfile = {
  name: "unfile-chats",
  text: `with batch as (select id from chat where folder_id = $1 and company_id = any($2::uuid[]) limit $3 for no key update skip locked)
         update chat set folder_id = null from batch where chat.id = batch.id returning chat.id`,
}

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
    refuseNulls(viewer, ChatFolder, input)
    return patch(viewer, await viewer.find(ChatFolder, id, "Chat folder"), input)
  }

  @Access("company", { steps: true })
  @Mutation(() => DeleteResult, { description: "Deletes a chat folder; its chats are kept, unfiled." })
  async deleteChatFolder(@Ctx() viewer: Viewer, @Arg("id", () => UUID) id: string) {
    await viewer.change((within) => within.find(ChatFolder, id, "Chat folder"))
    // In batches of their own, so that no chat waits long for it; what is filed meanwhile is unfiled with the folder.
    await inBatches(viewer, unfile, [id], limits.detachBatch)
    return viewer.change(async (within) => deleted(within, await within.find(ChatFolder, id, "Chat folder")))
  }
}
