import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Query, Resolver } from "type-graphql"
import { pagingOfChats } from "../chats/paging.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import type { FilterTemplate } from "../database/reader.js"
import { type Messenger, MessengerEnum } from "../entities/channel.js"
import { UUID } from "../entities/kit/scalars.js"
import { ChatConnection, ChatSortEnum, chatReadModel } from "../schema/chat.js"
import { sizedList } from "../schema/chat-counts.js"
import { ChatWhere, chatFilterFields, filtered, withUser } from "../schema/chat-filter.js"
import { CompanyArg } from "../schema/kit/arguments.js"
import { literal, parseFilter, whereConditions } from "../schema/kit/filter.js"
import { connection } from "../schema/kit/page.js"
import { cursorValues } from "../schema/kit/paging.js"
import { SortOrderEnum } from "../schema/kit/sort-order.js"

const allChats: FilterTemplate<"Chat"> = { key: "all", values: [], build: (query) => query }

@Resolver()
export class ChatListResolver {
  @Access("company")
  @Query(() => ChatConnection, {
    description: "Chats, most recent activity first. Pages by cursor (first, after) or by offset (first, skip).",
  })
  async chats(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("where", () => ChatWhere, { nullable: true, description: "Conditions as an object." }) where?: ChatWhere,
    @Arg("filter", () => String, { nullable: true, description: "Conditions as text, in the form field:op:value;field:op:value." })
    filter?: string,
    @Arg("search", () => String, {
      nullable: true,
      description: "Text to find in the customer name, account name, user name or phone number, regardless of case.",
    })
    search?: string,
    @Arg("sortBy", () => ChatSortEnum, {
      nullable: true,
      description: "Sort key. CREATED_AT requires paging by offset. Default: LAST_MESSAGE_AT.",
    })
    sortBy?: string,
    @Arg("sortOrder", () => SortOrderEnum, { nullable: true, description: "Sort order. Default: DESC." }) sortOrder?: string,
    @Arg("messenger", () => MessengerEnum, { nullable: true, description: "Returns only chats on this channel." }) messenger?: Messenger,
    @Arg("sourceChannel", () => String, {
      nullable: true,
      description: "Returns only chats that an aggregator received from this channel.",
    })
    sourceChannel?: string,
    @Arg("fromId", () => String, {
      nullable: true,
      description: "Returns only chats of this connected account (config.externalId of the channel connection).",
    })
    fromId?: string,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Returns only chats assigned to the assistant with this ID." })
    assistantId?: string,
    @Arg("managerId", () => String, {
      nullable: true,
      description: "Returns only chats assigned to the user with this ID; `me` means the signed-in user, `null` means no manager.",
    })
    managerId?: string,
    @Arg("unread", () => Boolean, { nullable: true, description: "Returns only chats with (true) or without (false) unread messages." })
    unread?: boolean,
    @Arg("isUnderAiControl", () => Boolean, { nullable: true, description: "Returns only chats with AI on (true) or off (false)." })
    isUnderAiControl?: boolean,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip (legacy paging); cannot be combined with a cursor." })
    skip?: number,
  ) {
    // The simple parameters become conditions like those of `where` and `filter`.
    const simple = { messenger, assistantId, managerId, unread, isUnderAiControl }
    const asWhere = Object.fromEntries(Object.entries(simple).map(([field, value]) => [field, { eq: value }]))
    const given = [
      ...whereConditions(chatFilterFields, asWhere),
      ...whereConditions(chatFilterFields, where ?? {}),
      ...(filter ? parseFilter(chatFilterFields, filter) : []),
    ]
    const paging = pagingOfChats({ sortBy, sortOrder, first, after, skip })
    // A malformed cursor is refused before a company out of reach.
    cursorValues(paging)
    const conditions = withUser(context, given)
    const isOfConditions = !sourceChannel && !fromId && !search?.trim()
    const sizes = isOfConditions ? sizedList(conditions) : null
    const page = (matching: FilterTemplate<"Chat"> | Narrow<"Chat">) =>
      connection(context.reader, chatReadModel, selectionOf(info), paging, matching, context.reach(companyId), sizes)
    if (isOfConditions && conditions.length === 0) return page(allChats)
    const matching = filtered(conditions)
    return page((query) => {
      let list = matching(query)
      if (sourceChannel) list = list.where("t.source_channel", "=", sourceChannel)
      if (fromId) list = list.where("t.from_id", "=", fromId)
      if (search?.trim()) list = list.where(sql<boolean>`t.search_text like lower(${`%${literal(search.trim())}%`})`)
      return list
    })
  }
}
