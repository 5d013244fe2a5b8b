import { LockMode } from "@mikro-orm/postgresql"
import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { completed, idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Assistant } from "../entities/assistant.js"
import { Chat } from "../entities/chat.js"
import { Member, Subscription } from "../entities/company.js"
import { type AiDisableReason, AiDisableReasonEnum } from "../entities/kit/chat-words.js"
import { clock } from "../entities/kit/clock.js"
import { UUID } from "../entities/kit/scalars.js"
import { BadUserInput, Forbidden } from "../errors.js"
import { Access } from "../graphql/access.js"
import { CreateChatInput, chatReadModel, UpdateChatInput } from "../schema/chat.js"
import { IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, mustBeSaid, patch, refuseNulls } from "../schema/kit/input.js"

const mustBeMember = async (context: RequestContext, companyId: string, userId: string) => {
  if (await context.em.findOne(Member, { companyId, userId })) return
  throw new BadUserInput("managerId names nobody in this company", [{ path: "managerId", message: "names nobody in this company" }])
}

/** The assistant that a chat is to get; locked, so that its deletion either finds the chat or is seen here. */
const assistantFor = (context: RequestContext, companyId: string, assistantId: string) =>
  context.referred(Assistant, assistantId, "assistantId", companyId, LockMode.PESSIMISTIC_READ)

/** An AI flag that is turned on needs a subscription that is active now. */
async function mustBePaidFor(context: RequestContext, chat: Chat) {
  const subscription = await context.em.findOne(Subscription, { companyId: chat.companyId })
  if (!subscription?.isActiveAt(clock.now())) throw new Forbidden("Turning AI on needs an active subscription")
}

@Resolver()
export class ChatResolver {
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
      const made = await idempotent(tx, tx.unit, "Chat", input, () => this.make(tx, input))
      if (!(made instanceof Chat)) return completed(tx, "Chat", made, selection)
      await tx.unit.flush()
      return (await tx.reader.list(chatReadModel, selection, (query) => query.where("t.id", "=", made.id)))[0]
    })
  }

  private async make(context: RequestContext, input: CreateChatInput): Promise<Chat> {
    const { assistantId, managerId, idempotencyKey: _key, ...fields } = input
    const chat = patch(context, new Chat(), { ...fields, companyId: context.company(input.companyId) })
    if (managerId) {
      await mustBeMember(context, chat.companyId, managerId)
      chat.managerId = managerId
    }
    if (assistantId) chat.beginWith(await assistantFor(context, chat.companyId, assistantId))
    context.em.persist(chat.opened())
    return chat
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Changes a chat. The rules on groups, drafts and subscriptions are not applied." })
  async updateChat(@Ctx() context: RequestContext, @IdArg("chat") id: string, @Arg("input", () => UpdateChatInput) input: UpdateChatInput) {
    refuseNulls(context, Chat, input)
    const chat = await context.find(Chat, id)
    const { assistantId, isUnderAiControl, ...fields } = input
    if (fields.managerId) await mustBeMember(context, chat.companyId, fields.managerId)
    if (assistantId) (await assistantFor(context, chat.companyId, assistantId)).mustStay()
    patch(context, chat, fields).changed()
    if (assistantId !== undefined) chat.setAssistant(assistantId)
    if (isUnderAiControl === true) chat.setAi(true, null, context.actor)
    if (isUnderAiControl === false) chat.turnAiOff("manual", context.actor)
    return chat
  }

  @Access("company")
  @Mutation(() => DeleteResult, {
    description:
      "Deletes a chat with its messages and files on this server, not on the channel. A later customer message creates a new chat.",
  })
  async deleteChat(@Ctx() context: RequestContext, @IdArg("chat") id: string) {
    return deleted(context, (await context.find(Chat, id)).deleted())
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
      await mustBePaidFor(context, chat)
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
    mustBeSaid("managerId", managerId)
    const chat = await context.find(Chat, id)
    if (managerId) await mustBeMember(context, chat.companyId, managerId)
    return patch(context, chat, { managerId }).changed()
  }
}
