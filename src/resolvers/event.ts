import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Resolver, Root, Subscription } from "type-graphql"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { readModelOf } from "../database/read-model.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { UUID } from "../entities/kit/scalars.js"
import { Forbidden } from "../errors.js"
import type { LoggedEvent } from "../events/logged-event.js"
import { Access } from "../graphql/access.js"
import { EventShape } from "../schema/event.js"
import { withMediaUrls } from "../schema/media.js"
import { forVisitor, isForVisitors } from "../schema/message.js"

interface EventArguments {
  companyId?: string | null
  chatId?: string | null
  types?: EventType[] | null
  after?: string | null
}

async function subscribe(context: RequestContext, args: EventArguments) {
  const { identity, services, request } = context
  const isVisitor = identity.kind === "visitor"
  if (isVisitor && args.chatId && args.chatId !== identity.chatId) throw new Forbidden("This chat is not yours")
  return services.eventStream({
    companyIds: context.reach(args.companyId ?? request.socket?.companyId),
    chatId: isVisitor ? identity.chatId : args.chatId,
    types: args.types,
    after: args.after,
    only: isVisitor ? (event) => event.message !== null && isForVisitors(event.message) : undefined,
    onSlow: () => request.socket?.close(1013, "Reads too slowly; resume with after"),
  })
}

@Resolver()
export class EventResolver {
  @Access("visitor")
  @Subscription(() => EventShape, {
    description: "What happens in a company: everything after a cursor, each once and in order, then live.",
    subscribe: (data) => subscribe(data.context as RequestContext, data.args as EventArguments) as never,
  })
  async events(
    @Root() event: LoggedEvent,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) _companyId?: string,
    @Arg("chatId", () => UUID, { nullable: true, description: "Only this chat's." }) _chatId?: string,
    @Arg("types", () => [EventTypeEnum], { nullable: true, description: "Only of these types." }) _types?: EventType[],
    @Arg("after", () => String, { nullable: true, description: "Resume behind this event; events are kept 24 hours." }) _after?: string,
  ) {
    const { id, type, createdAt } = event
    if (context.identity.kind === "visitor") {
      const message = withMediaUrls(forVisitor(event.message!), context.reader.mediaUrl)
      return { id, type, createdAt, message, payload: context.services.represent("Message", message), chat: null }
    }
    const selection = selectionOf(info)
    const whole = async (name: "message" | "chat", source: string) =>
      event[name] && selection[name]
        ? (await context.reader.complete(readModelOf(source)!, [{ ...event[name] }], selection[name]))[0]
        : null
    const [message, chat] = [await whole("message", "Message"), await whole("chat", "Chat")]
    return { id, type, createdAt, message, chat, payload: selection["payload"] ? event.payload : null }
  }
}
