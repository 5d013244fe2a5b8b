import { LockMode } from "@mikro-orm/postgresql"
import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, FieldResolver, Info, Int, Mutation, Query, Resolver, Root } from "type-graphql"
import { copyAssistant } from "../assistant/copy.js"
import { knowledgeItemsOf, toolsOf } from "../assistant/nested.js"
import { freeChats, removeAssistant } from "../assistant/removal.js"
import { chatsOfAssistant } from "../chats/nested.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow, PlannedRow } from "../database/read-model.js"
import { Assistant, spokenFields } from "../entities/assistant.js"
import { AssistantFolder } from "../entities/assistant-folder.js"
import { Channel } from "../entities/channel.js"
import { UUID } from "../entities/kit/scalars.js"
import {
  AssistantPage,
  assistantReadModel,
  CopyAssistantInput,
  CreateAssistantInput,
  DeleteAssistantResult,
  TextModel,
  UpdateAssistantInput,
} from "../schema/assistant.js"
import { checkAssistant, registrationOf } from "../schema/assistant-check.js"
import { AssistantToolPage } from "../schema/assistant-tool.js"
import { ChatConnection } from "../schema/chat.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { findToChange, patch } from "../schema/kit/input.js"
import { Needs } from "../schema/kit/needs.js"
import { offsetPage, pageSize } from "../schema/kit/page.js"
import { KnowledgePage } from "../schema/knowledge.js"
import { resolverLimits } from "./limits.js"

const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: "asc" } } as const

/** Checks what needs no row, before one is read; returns the input with complete voice settings. */
function checked(input: UpdateAssistantInput, { services }: RequestContext) {
  checkAssistant(input, services)
  return { ...input, registration: input.vaRegistration && registrationOf(input.vaRegistration, services) }
}

async function applyInput(context: RequestContext, assistant: Assistant, input: ReturnType<typeof checked>) {
  const { draftOfId, vaRegistration: _raw, registration, ...fields } = input
  if (input.folderId) await context.referred(AssistantFolder, input.folderId, "folderId", assistant.companyId)
  const changesVoice = spokenFields.some((field) => input[field] !== undefined && input[field] !== assistant[field])
  patch(context, assistant, fields)
  if (!assistant.isDraft) assistant.draftOfId = null
  if (draftOfId) assistant.becomeVariantOf(await context.referred(Assistant, draftOfId, "draftOfId", assistant.companyId))
  if (draftOfId === null) assistant.draftOfId = null
  if (registration !== undefined) assistant.setVoice(registration)
  else if (changesVoice) assistant.resyncVoice()
  return assistant
}

@Resolver(() => Assistant)
export class AssistantResolver {
  @Needs<"Assistant">()
  @FieldResolver(() => AssistantToolPage, { description: "The newest tools of the assistant; assistantTools has further pages." })
  tools(
    @Root() { id }: PlannedRow<"Assistant">,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("take", () => Int, { nullable: true, description: "Number of items, 1 to 100. Default: 20." }) take?: number,
  ) {
    return toolsOf(context, selectionOf(info), id, pageSize(take, resolverLimits.pageDefault, "take"))
  }

  @Needs<"Assistant">()
  @FieldResolver(() => KnowledgePage, {
    description: "The newest knowledge items of the assistant, without resourceContent; knowledgeItems has further pages.",
  })
  knowledgeItems(
    @Root() { id }: PlannedRow<"Assistant">,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("take", () => Int, { nullable: true, description: "Number of items, 1 to 100. Default: 20." }) take?: number,
  ) {
    return knowledgeItemsOf(context, selectionOf(info), id, pageSize(take, resolverLimits.pageDefault, "take"))
  }

  @Needs<"Assistant">()
  @FieldResolver(() => ChatConnection, { description: "Chats that are assigned to the assistant, most recent activity first." })
  chats(
    @Root() { id }: PlannedRow<"Assistant">,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page of this assistant." })
    after?: string,
  ) {
    return chatsOfAssistant(context, selectionOf(info), id, { first, after })
  }

  @Access("company")
  @Query(() => [TextModel], { description: "Text models of this server: the configured models, then the built-in offline model." })
  textModels(@Ctx() context: RequestContext) {
    return context.services.models
  }

  @Access("company")
  @Query(() => AssistantPage, { description: "Assistants, most recently updated first." })
  assistants(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("folderId", () => UUID, { nullable: true, description: "ID of an assistant folder; returns only the assistants in it." })
    folderId?: string,
    @Arg("q", () => String, { nullable: true, description: "Text to find in the name, regardless of case." }) q?: string,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 10." }) take?: number,
    @Arg("includeVariants", () => Boolean, { nullable: true, description: "Whether draft variants are included. Default: false." })
    includeVariants?: boolean,
  ) {
    const filter: Narrow<"Assistant"> = (query) => {
      let found = query
      if (folderId) found = found.where("t.folder_id", "=", folderId)
      if (q?.trim()) found = found.where(sql<boolean>`strpos(lower(t.name), lower(${q.trim()})) > 0`)
      return includeVariants ? found : found.where("t.is_draft", "=", false)
    }
    const order: Narrow<"Assistant"> = (query) => query.orderBy("t.updated_at", "desc").orderBy("t.id", "desc")
    return offsetPage(
      context.reader,
      assistantReadModel,
      selectionOf(info),
      { skip, take, defaultTake: resolverLimits.assistantPageDefault },
      filter,
      order,
      () => context.reach(companyId),
    )
  }

  @Access("company")
  @Query(() => Assistant, { nullable: true, description: "An assistant." })
  assistant(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("assistant") id: string) {
    return context.one(assistantReadModel, id, info)
  }

  @Access("company")
  @Mutation(() => Assistant, { description: "Creates an assistant." })
  async createAssistant(@Ctx() context: RequestContext, @Arg("input", () => CreateAssistantInput) input: CreateAssistantInput) {
    const { companyId, ...fields } = input
    const whole = checked(fields as UpdateAssistantInput, context)
    const assistant = new Assistant()
    assistant.companyId = context.company(companyId)
    assistant.textModelId = context.services.models[0]!.id
    await applyInput(context, assistant, whole)
    context.em.persist(assistant)
    return assistant
  }

  @Access("company")
  @Mutation(() => Assistant, { description: "Changes an assistant. Its voice agent is updated in the background." })
  async updateAssistant(
    @Ctx() context: RequestContext,
    @IdArg("assistant") id: string,
    @Arg("input", () => UpdateAssistantInput) input: UpdateAssistantInput,
  ) {
    const whole = checked(input, context)
    const assistant = await findToChange(context, Assistant, id, input)
    assistant.refuseWhileDeleted()
    return applyInput(context, assistant, whole)
  }

  @Access("company")
  @Mutation(() => Assistant, {
    description: "Copies an assistant with its tools and knowledge items, in one transaction. Logs and chats are not copied.",
  })
  copyAssistant(
    @Ctx() context: RequestContext,
    @IdArg("assistant") id: string,
    @Arg("input", () => CopyAssistantInput) input: CopyAssistantInput,
  ) {
    return context.transaction(async (tx) => {
      // A shared lock, so that chats can be assigned to the source meanwhile.
      const source = await tx.find(Assistant, id, "Assistant", LockMode.PESSIMISTIC_READ)
      source.refuseWhileDeleted()
      const voice = input.vaRegistration === undefined ? source.vaRegistration : input.vaRegistration
      const registration = voice && registrationOf(voice, context.services)
      const copy = await copyAssistant(tx.unit, source, input.name ?? null)
      if (registration) copy.setVoice(registration)
      return copy
    })
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteAssistantResult, {
    description:
      "Deletes an assistant; one with a voice agent is deleted after the agent has been removed. Its chats are kept, with AI off.",
  })
  async deleteAssistant(@Ctx() context: RequestContext, @IdArg("assistant") id: string): Promise<DeleteAssistantResult> {
    const terminating = await context.transaction(async (tx) => {
      const assistant = await tx.find(Assistant, id)
      assistant.terminate()
      // New chats do not get this assistant any more.
      for (const channel of await tx.em.find(Channel, { assistantId: id }, locked)) channel.assistantId = null
      return assistant.hasVoice
    })
    await freeChats(context, id)
    if (!terminating) await removeAssistant(context, id)
    return { id, deleted: !terminating, terminating }
  }
}
