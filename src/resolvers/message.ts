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
import { CreateMessageInput, MessageConnection, messageReadModel } from "../schema/message.js"

@Resolver()
export class MessageResolver {
  @Access("visitor")
  @Query(() => MessageConnection, { description: "Messages of a chat, newest first; by cursor, or by offset the legacy way." })
  messages(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("chatId", () => UUID, { description: "The chat." }) chatId: string,
    @Arg("first", () => Int, { nullable: true, description: "How many, 1 to 100; 30 when absent." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the place to continue after." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over, the legacy way; not with after." }) skip?: number,
  ) {
    return listMessages(context, selectionOf(info), { chatId, first, after, skip })
  }

  @Access("company")
  @Query(() => Message, { nullable: true, description: "One message." })
  message(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return context.one(messageReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Message, { description: "Stores a message and queues it for delivery; a customer's message is an inbound one." })
  async createMessage(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateMessageInput) input: CreateMessageInput,
  ) {
    return completed(context, "Message", await createMessage(context, input), selectionOf(info))
  }
}
