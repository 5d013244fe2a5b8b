import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import { completed } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { UUID } from "../entities/kit/scalars.js"
import { Message } from "../entities/message.js"
import { createMessage } from "../messages/create.js"
import { listMessages } from "../messages/list.js"
import { retryMessage } from "../messages/retry.js"
import { IdArg } from "../schema/kit/arguments.js"
import { CreateMessageInput, MessageConnection, messageReadModel } from "../schema/message.js"

@Resolver()
export class MessageResolver {
  @Access("visitor")
  @Query(() => MessageConnection, {
    description: "Messages of a chat, newest first. Pages by cursor (first, after) or by offset (first, skip).",
  })
  messages(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("chatId", () => UUID, { description: "ID of the chat." }) chatId: string,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 30." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip (legacy paging); cannot be combined with a cursor." })
    skip?: number,
  ) {
    return listMessages(context, selectionOf(info), { chatId, first, after, skip })
  }

  @Access("company")
  @Query(() => Message, { nullable: true, description: "A message." })
  message(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("message") id: string) {
    return context.one(messageReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Message, {
    description: "Stores a message and queues it for delivery. A message with role CUSTOMER is an inbound message and is not delivered.",
  })
  async createMessage(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateMessageInput) input: CreateMessageInput,
  ) {
    return completed(context, "Message", await createMessage(context, input), selectionOf(info))
  }

  @Access("company")
  @Mutation(() => Message, { description: "Queues a message again whose delivery failed." })
  async retryMessage(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("message") id: string) {
    const message = await retryMessage(context, id)
    return completed(context, "Message", message, selectionOf(info))
  }
}
