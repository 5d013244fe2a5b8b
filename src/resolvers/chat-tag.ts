import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { dropExclusions, removeTagEverywhere } from "../chats/chat-tag.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import { selectionOf } from "../context/selection.js"
import { ChatTag } from "../entities/chat-tag.js"
import { CreateChatTagInput, chatTagReadModel, UpdateChatTagInput } from "../schema/chat-tag.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange, patch } from "../schema/kit/input.js"

@Resolver()
export class ChatTagResolver {
  @Access("company")
  @Query(() => [ChatTag], { description: "Chat tags, sorted by name." })
  chatTags(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    const byName = sql`lower(t.name)`
    return context.reader.list(
      chatTagReadModel,
      selectionOf(info),
      (query) => query.orderBy(byName).orderBy("t.id"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => ChatTag, { description: "Creates a chat tag. Its name must be unique in the company, regardless of case." })
  async createChatTag(@Ctx() context: RequestContext, @Arg("input", () => CreateChatTagInput) input: CreateChatTagInput) {
    const companyId = context.company(input.companyId)
    await mustHaveRoom(context, ChatTag, companyId, "chat tags")
    const tag = patch(context, new ChatTag(), { ...input, companyId })
    context.em.persist(tag)
    return tag
  }

  @Access("company")
  @Mutation(() => ChatTag, {
    description: "Changes the name or the color of a chat tag. A renamed tag is removed from excludedTags of the assistants.",
  })
  async updateChatTag(
    @Ctx() context: RequestContext,
    @IdArg("chat tag") id: string,
    @Arg("input", () => UpdateChatTagInput) input: UpdateChatTagInput,
  ) {
    const tag = await findToChange(context, ChatTag, id, input, "Chat tag")
    const before = tag.name
    patch(context, tag, input)
    await dropExclusions(context.unit, tag, before)
    return tag
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteResult, { description: "Deletes a chat tag and removes it from all chats." })
  async deleteChatTag(@Ctx() context: RequestContext, @IdArg("chat tag") id: string) {
    await context.transaction((tx) => tx.find(ChatTag, id, "Chat tag"))
    await removeTagEverywhere(context, id)
    // Chats that got the tag meanwhile lose it by `on delete cascade`.
    return context.transaction(async (tx) => deleted(tx, await tx.find(ChatTag, id, "Chat tag")))
  }
}
