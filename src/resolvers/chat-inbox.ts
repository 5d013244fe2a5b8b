import { Arg, Ctx, Mutation, Resolver } from "type-graphql"
import { addLabel, addTag, removeLabel, removeTag, setTags } from "../chats/chat-tag.js"
import { markUnread } from "../chats/read-state.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { mustBeSaid } from "../schema/kit/input.js"
import { resolverLimits } from "./limits.js"

const Label = Trimmed({ max: resolverLimits.chatLabel })
const CommentText = Trimmed({ max: resolverLimits.chatComment })

@Resolver()
export class ChatInboxResolver {
  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat with a label; the tag is created when the dictionary lacks it." })
  async addChatLabel(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("label", () => Label) label: string) {
    return addLabel(context.unit, await context.find(Chat, id), label)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Takes a label off the chat." })
  async removeChatLabel(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("label", () => String) label: string) {
    return removeLabel(context.unit, await context.find(Chat, id), label)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Puts the chat in a folder, or in none." })
  async setChatFolder(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("folderId", () => UUID, { nullable: true, description: "The folder; null unfiles." }) folderId: string | null | undefined,
  ) {
    mustBeSaid("folderId", folderId)
    const chat = await context.find(Chat, id)
    if (folderId) await context.referred(ChatFolder, folderId, "folderId", chat.companyId)
    if (chat.folderId === folderId) return chat
    chat.folderId = folderId ?? null
    return chat.changed()
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Gives the chat exactly these tags." })
  async setChatTags(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagIds", () => [UUID]) tagIds: string[]) {
    return setTags(context.unit, await context.find(Chat, id), tagIds)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Gives the chat one more tag." })
  async addChatTag(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagId", () => UUID) tagId: string) {
    return addTag(context.unit, await context.find(Chat, id), tagId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Takes a tag off the chat." })
  async removeChatTag(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagId", () => UUID) tagId: string) {
    return removeTag(context.unit, await context.find(Chat, id), tagId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Adds an internal comment; never sent to the customer." })
  async addChatComment(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("text", () => CommentText) text: string) {
    const chat = await context.find(Chat, id)
    return chat.comment(text, context.userId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes an internal comment." })
  async removeChatComment(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("commentId", () => UUID) commentId: string,
  ) {
    return (await context.find(Chat, id)).uncomment(commentId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat as read." })
  async markChatRead(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    return (await context.find(Chat, id)).read()
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat as unread, back to our side's last message." })
  async markChatUnread(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    return markUnread(context.unit, await context.find(Chat, id))
  }
}
