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
      const made = await idempotent(tx, tx.unit, "Chat", input, () => this.make(tx, input))
      if (!(made instanceof Chat)) return completed(tx, "Chat", made, selection)
      await tx.unit.flush()
      return tx.reader.byId(chatReadModel, made.id, selection)
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
  @Mutation(() => Chat, { description: "Changes a chat, without the business rules." })
  async updateChat(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("input", () => UpdateChatInput) input: UpdateChatInput,
  ) {
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
      await mustBePaidFor(context, chat)
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
