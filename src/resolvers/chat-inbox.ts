import { Arg, Ctx, Mutation, Resolver } from "type-graphql"
import { addLabel, addTag, removeLabel, removeTag, setTags } from "../chats/chat-tag.js"
import { markUnread } from "../chats/read-state.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { IdArg } from "../schema/kit/arguments.js"
import { mustBeGiven } from "../schema/kit/input.js"
import { resolverLimits } from "./limits.js"

const Label = Trimmed({ max: resolverLimits.chatLabel })
const CommentText = Trimmed({ max: resolverLimits.chatComment })

@Resolver()
export class ChatInboxResolver {
  @Access("company")
  @Mutation(() => Chat, {
    description: "Adds the tag with this name to a chat. The tag is created if the company has none with this name.",
  })
  async addChatLabel(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("label", () => Label, { description: "Name of the tag." }) label: string,
  ) {
    return addLabel(context.unit, await context.find(Chat, id), label)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes the tag with this name from a chat." })
  async removeChatLabel(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("label", () => String, { description: "Name of the tag." }) label: string,
  ) {
    return removeLabel(context.unit, await context.find(Chat, id), label)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Moves a chat to a folder, or out of its folder." })
  async setChatFolder(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("folderId", () => UUID, { nullable: true, description: "ID of the chat folder; null means no folder. Required." }) folderId:
      | string
      | null
      | undefined,
  ) {
    mustBeGiven("folderId", folderId)
    const chat = await context.find(Chat, id)
    if (folderId) await context.referred(ChatFolder, folderId, "folderId", chat.companyId)
    if (chat.folderId === folderId) return chat
    chat.folderId = folderId ?? null
    return chat.changed()
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Replaces the tags of a chat." })
  async setChatTags(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("tagIds", () => [UUID], { description: "IDs of all tags that the chat shall have." }) tagIds: string[],
  ) {
    return setTags(context.unit, await context.find(Chat, id), tagIds)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Adds a tag to a chat." })
  async addChatTag(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("tagId", () => UUID, { description: "ID of the tag." }) tagId: string,
  ) {
    return addTag(context.unit, await context.find(Chat, id), tagId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes a tag from a chat." })
  async removeChatTag(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("tagId", () => UUID, { description: "ID of the tag." }) tagId: string,
  ) {
    return removeTag(context.unit, await context.find(Chat, id), tagId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Adds an internal comment to a chat. It is never sent to the customer." })
  async addChatComment(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("text", () => CommentText, { description: "Text of the comment." }) text: string,
  ) {
    const chat = await context.find(Chat, id)
    return chat.comment(text, context.userId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes an internal comment from a chat." })
  async removeChatComment(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("commentId", () => UUID, { description: "ID of the comment." }) commentId: string,
  ) {
    return (await context.find(Chat, id)).uncomment(commentId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Marks a chat as read." })
  async markChatRead(@Ctx() context: RequestContext, @IdArg("chat") id: string) {
    return (await context.find(Chat, id)).markRead()
  }

  @Access("company")
  @Mutation(() => Chat, {
    description: "Marks a chat as unread: customer messages since the last outgoing message count as unread, at least one.",
  })
  async markChatUnread(@Ctx() context: RequestContext, @IdArg("chat") id: string) {
    return markUnread(context.unit, await context.find(Chat, id))
  }
}
