import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { assistantFor, mustBeMember, mustHaveSubscription } from "../chats/checks.js"
import { createChat } from "../chats/create.js"
import { updateChat } from "../chats/update.js"
import { Access } from "../context/access.js"
import { completed, idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Chat } from "../entities/chat.js"
import { type AiDisableReason, AiDisableReasonEnum } from "../entities/kit/chat-words.js"
import { UUID } from "../entities/kit/scalars.js"
import { CreateChatInput, chatReadModel, UpdateChatInput } from "../schema/chat.js"
import { DeleteResult, deleted, mustBeSaid, patch, refuseNulls } from "../schema/kit/input.js"

@Resolver()
export class ChatResolver {
  @Access("company")
  @Query(() => Chat, { nullable: true, description: "One chat." })
  chat(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return context.one(chatReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Chat, { description: "Creates a chat; nothing is sent to the customer." })
  async createChat(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateChatInput) input: CreateChatInput,
  ) {
    const selection = selectionOf(info)
    return context.transaction(async (tx) => {
      const made = await idempotent(tx, tx.unit, "Chat", input, () => createChat(tx, input))
      if (!(made instanceof Chat)) return completed(tx, "Chat", made, selection)
      await tx.unit.flush()
      return (await tx.reader.list(chatReadModel, selection, (query) => query.where("t.id", "=", made.id)))[0]
    })
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Changes a chat, without the business rules." })
  async updateChat(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateChatInput) input: UpdateChatInput,
  ) {
    refuseNulls(context, Chat, input)
    return updateChat(context, await context.find(Chat, id), input)
  }

  @Access("company")
  @Mutation(() => DeleteResult, {
    description: "Deletes a chat with its messages, on this side only; a later customer message creates a new one.",
  })
  async deleteChat(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    return deleted(context, (await context.find(Chat, id)).deleted())
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Turns AI on or off; off is always allowed." })
  async setAiControl(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("isUnderAiControl", () => Boolean, { description: "On or off." }) isUnderAiControl: boolean,
    @Arg("aiDisableReason", () => AiDisableReasonEnum, { nullable: true, description: "Why it is turned off; MANUAL when absent." })
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
  @Mutation(() => Chat, { description: "Gives the chat to an assistant and turns AI on." })
  async assignAssistant(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("assistantId", () => UUID) assistantId: string,
  ) {
    const chat = await context.find(Chat, id)
    chat.assign(await assistantFor(context, chat.companyId, assistantId), context.actor)
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Takes the assistant off the chat; the AI flag stays as it is." })
  async unassignAssistant(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    const chat = await context.find(Chat, id)
    chat.setAssistant(null)
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Assigns the chat to a manager of the company, or to nobody." })
  async assignManager(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("managerId", () => UUID, { nullable: true, description: "The manager; null takes the chat off them." })
    managerId: string | null | undefined,
  ) {
    mustBeSaid("managerId", managerId)
    const chat = await context.find(Chat, id)
    if (managerId) await mustBeMember(context, chat.companyId, managerId)
    return patch(context, chat, { managerId }).changed()
  }
}
