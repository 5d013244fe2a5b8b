import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, FieldResolver, Info, Int, Mutation, Query, Resolver, Root } from "type-graphql"
import { assistantFor, mustBeMember, mustHaveSubscription } from "../chats/checks.js"
import { createChat } from "../chats/create.js"
import { deleteChat } from "../chats/delete.js"
import { takeOver } from "../chats/take-over.js"
import { updateChat } from "../chats/update.js"
import { Access } from "../context/access.js"
import { completed, idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { PlannedRow } from "../database/read-model.js"
import { Chat } from "../entities/chat.js"
import { type AiDisableReason, AiDisableReasonEnum } from "../entities/kit/chat-words.js"
import { UUID } from "../entities/kit/scalars.js"
import { messagesOfChat } from "../messages/nested.js"
import { CreateChatInput, chatReadModel, UpdateChatInput } from "../schema/chat.js"
import { IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, findToChange, mustBeGiven, patch } from "../schema/kit/input.js"
import { Needs } from "../schema/kit/needs.js"
import { MessageConnection } from "../schema/message.js"

@Resolver(() => Chat)
export class ChatResolver {
  @Needs<"Chat">()
  @FieldResolver(() => MessageConnection, { description: "Messages of the chat, newest first." })
  messages(
    @Root() { id }: PlannedRow<"Chat">,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 30." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page of this chat." })
    after?: string,
  ) {
    return messagesOfChat(context, selectionOf(info), id, { first, after })
  }

  @Access("company")
  @Query(() => Chat, { nullable: true, description: "A chat." })
  chat(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("chat") id: string) {
    return context.one(chatReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Chat, { description: "Creates a chat. Nothing is sent to the customer." })
  async createChat(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateChatInput) input: CreateChatInput,
  ) {
    const selection = selectionOf(info)
    return context.transaction(async (tx) => {
      const result = await idempotent(tx, tx.unit, "Chat", input, () => createChat(tx, input))
      if (!(result instanceof Chat)) return completed(tx, "Chat", result, selection)
      await tx.unit.flush()
      return tx.reader.byId(chatReadModel, result.id, selection)
    })
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Changes a chat. The rules on groups, drafts and subscriptions are not applied." })
  async updateChat(@Ctx() context: RequestContext, @IdArg("chat") id: string, @Arg("input", () => UpdateChatInput) input: UpdateChatInput) {
    return updateChat(context, await findToChange(context, Chat, id, input), input)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteResult, {
    description:
      "Deletes a chat with its messages and files on this server, not on the channel. A later customer message creates a new chat.",
  })
  deleteChat(@Ctx() context: RequestContext, @IdArg("chat") id: string) {
    return deleteChat(context, id)
  }

  @Access("company")
  @Mutation(() => Chat, {
    description: "Turns AI on or off in a chat. Turning it on requires an active subscription and is not possible in a group.",
  })
  async setAiControl(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("isUnderAiControl", () => Boolean, { description: "True turns AI on, false turns it off." }) isUnderAiControl: boolean,
    @Arg("aiDisableReason", () => AiDisableReasonEnum, { nullable: true, description: "Why AI is turned off. Default: MANUAL." })
    aiDisableReason?: AiDisableReason | null,
  ) {
    const chat = await context.find(Chat, id)
    if (!isUnderAiControl) chat.turnAiOff(aiDisableReason ?? "manual", context.actor)
    else {
      chat.turnAiOn(context.actor)
      await mustHaveSubscription(context, chat)
    }
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Assigns an assistant to a chat and turns AI on." })
  async assignAssistant(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("assistantId", () => UUID, { description: "ID of the assistant." }) assistantId: string,
  ) {
    const chat = await context.find(Chat, id)
    chat.assign(await assistantFor(context, chat.companyId, assistantId), context.actor)
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes the assistant from a chat. isUnderAiControl does not change." })
  async unassignAssistant(@Ctx() context: RequestContext, @IdArg("chat") id: string) {
    const chat = await context.find(Chat, id)
    chat.setAssistant(null)
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Assigns a manager to a chat, or removes the manager." })
  async assignManager(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("managerId", () => UUID, { nullable: true, description: "ID of a member of the company; null removes the manager. Required." })
    managerId: string | null | undefined,
  ) {
    mustBeGiven("managerId", managerId)
    const chat = await context.find(Chat, id)
    if (managerId) await mustBeMember(context, chat.companyId, managerId)
    return patch(context, chat, { managerId }).changed()
  }

  @Access("company")
  @Mutation(() => Chat, {
    description:
      "Takes a chat over: turns AI off and assigns a manager. CONFLICT when another person has taken it: somebody else is its manager, AI is off, and needsAttention is false. assignManager assigns one in any case.",
  })
  async takeOverChat(
    @Ctx() context: RequestContext,
    @IdArg("chat") id: string,
    @Arg("managerId", () => UUID, {
      nullable: true,
      description: "ID of a member of the company. Default: the user who asks; required with an access token.",
    })
    managerId?: string | null,
  ) {
    return takeOver(context, await context.find(Chat, id), managerId ?? context.userId)
  }
}
