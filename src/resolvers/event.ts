import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Query, Resolver, Root, Subscription } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { withMedia } from "../context/snapshot.js"
import { type Narrow, type PlannedRow, readModelOf, type Selection } from "../database/read-model.js"
import { fieldOf } from "../database/snapshot.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { UUID } from "../entities/kit/scalars.js"
import { Forbidden, NotFound } from "../errors/errors.js"
import type { LoggedEvent } from "../events/logged-event.js"
import { chatReadModel } from "../schema/chat.js"
import { EventShape, eventReadModel } from "../schema/event.js"
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
  if (isVisitor && args.chatId && args.chatId !== identity.chatId) throw new Forbidden("You have no access to this chat")
  const companyIds = context.reach(args.companyId ?? request.socket?.companyId)
  if (!isVisitor && args.chatId) await expectChat(context, args, companyIds)
  return services.eventStream({
    companyIds,
    chatId: isVisitor ? identity.chatId : args.chatId,
    types: args.types,
    after: args.after,
    only: isVisitor ? (event) => isForVisitor(event, args.types) : undefined,
    onSlow: () => request.socket?.cut(),
  })
}

/** Events that a visitor hears if it asks for them, since its earlier clients expect messages alone. */
const onRequest: readonly EventType[] = ["CHAT_MODE_CHANGED", "STRETCH_ENDED"]

/** Whether a visitor may hear an event: messages, who answers, and that a stretch has ended. */
function isForVisitor({ type, snapshot }: LoggedEvent, types: EventType[] | null | undefined): boolean {
  if (onRequest.includes(type)) return types?.includes(type) ?? false
  return snapshot?.type === "Message" && isForVisitors(snapshot.row)
}

/** What a visitor learns of a change of AI control, whatever else the event tells the company. */
function controlForVisitor({ payload }: LoggedEvent) {
  const { chatId, isUnderAiControl, aiDisableReason } = payload as Record<string, unknown>
  return { chatId, isUnderAiControl, aiDisableReason }
}

/**
 * A subscriber to a chat that is not there, or is another company's, would wait for ever. One who resumes may ask for a chat that was deleted
 * meanwhile, whose end is in the log.
 */
async function expectChat({ reader }: RequestContext, { chatId, after }: EventArguments, companyIds: string[]) {
  const chat = await reader.byId(chatReadModel, chatId!, { companyId: {} })
  if (chat && companyIds.includes(chat["companyId"] as string)) return
  const isEnd: Narrow<"Event"> = (query) => query.where("t.chat_id", "=", chatId!).where("t.type", "=", "CHAT_DELETED")
  const [end] = after && !chat ? await reader.list(eventReadModel, {}, isEnd, companyIds) : []
  if (!end) throw new NotFound("Chat")
}

/** The chat of an event that does not hold it: as it is now. */
const currentChat = (context: RequestContext, { chatId }: LoggedEvent, selection: Selection | undefined) =>
  chatId && selection ? context.reader.byId(chatReadModel, chatId, selection) : null

@Resolver()
export class EventResolver {
  @Access("visitor")
  @Query(() => String, {
    description:
      "The end of the event log, as a cursor. Read it first, in a request of its own, then what you show, then subscribe to events with it as `after`: no event is missed in between.",
  })
  eventCursor(@Ctx() { services }: RequestContext): Promise<string> {
    return services.endOfEventLog()
  }

  @Access("visitor")
  @Subscription(() => EventShape, {
    description: "Sends the events of a company: first those after the cursor, each once and in order, then new ones as they happen.",
    subscribe: (data) => subscribe(data.context as RequestContext, data.args as EventArguments) as never,
  })
  async events(
    @Root() event: LoggedEvent,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, {
      nullable: true,
      description: "ID of the company. Default: the company of the connection, or all companies that the credential can access.",
    })
    _companyId?: string,
    @Arg("chatId", () => UUID, {
      nullable: true,
      description: "ID of a chat; sends only events of this chat. An unknown one is NOT_FOUND.",
    })
    _chatId?: string,
    @Arg("types", () => [EventTypeEnum], {
      nullable: true,
      description:
        "Types of events to send. Default: all. A visitor hears MESSAGE_CREATED and MESSAGE_UPDATED, and of CHAT_MODE_CHANGED and STRETCH_ENDED those that are named here.",
    })
    _types?: EventType[],
    @Arg("after", () => String, { nullable: true, description: "ID of the last event received. Events are kept for 24 hours." })
    _after?: string,
  ) {
    const { id, type, createdAt, chatId, snapshot } = event
    if (context.identity.kind === "visitor") {
      if (type === "STRETCH_ENDED") return { id, type, createdAt, chatId, payload: { chatId }, message: null, chat: null }
      if (!snapshot) return { id, type, createdAt, chatId, payload: controlForVisitor(event), message: null, chat: null }
      const message = withMedia(forVisitor(snapshot.row as PlannedRow<"Message">), context.reader.mediaUrl)
      return { id, type, createdAt, chatId, message, payload: context.services.represent("Message", message), chat: null }
    }
    const selection = selectionOf(info)
    const payload = selection["payload"] ? event.payload : null
    const field = snapshot && fieldOf(snapshot.type)
    const shown = {
      id,
      type,
      createdAt,
      chatId,
      payload,
      chat: field === "chat" ? null : await currentChat(context, event, selection["chat"]),
    }
    if (!field || !selection[field]) return shown
    const [row] = await context.reader.complete(readModelOf(snapshot.type)!, [{ ...snapshot.row }], selection[field])
    return { ...shown, [field]: row }
  }
}
