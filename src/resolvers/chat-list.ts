import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Query, Resolver } from "type-graphql"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import type { FilterTemplate } from "../database/reader.js"
import { type Messenger, MessengerEnum } from "../entities/channel.js"
import { UUID } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors.js"
import { Access } from "../graphql/access.js"
import { ChatConnection, ChatSortEnum, chatReadModel, SortOrderEnum } from "../schema/chat.js"
import { ChatWhere, chatFilterFields, filtered } from "../schema/chat-filter.js"
import { literal, parseFilter, whereConditions } from "../schema/kit/filter.js"
import { connection, pageOffset, pageSize } from "../schema/kit/page.js"
import { placeOf, type Walk } from "../schema/kit/walk.js"
import { resolverLimits } from "./limits.js"

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

/** How the list is walked: by recency with a cursor, by anything else with an offset. */
function walkOf(sortBy: string | undefined, sortOrder: string | undefined, first?: number, after?: string, skip?: number): Walk {
  const byRecency = sortBy !== "createdAt"
  if (after && skip != null) throw bad("cursor", "must not come together with skip")
  if (after && !byRecency) throw bad("cursor", "must not come together with sortBy=createdAt, which pages by skip")
  const column = byRecency ? "recency" : "created_at"
  const descending = sortOrder !== "ASC"
  return {
    list: `chats ${descending ? "desc" : "asc"}`,
    keys: [
      { property: byRecency ? "recency" : "createdAt", column, type: "timestamptz" },
      { property: "id", column: "id", type: "uuid" },
    ],
    descending,
    size: pageSize(first, resolverLimits.pageDefault),
    after,
    skip: skip == null && byRecency ? null : pageOffset(skip),
  }
}

const everything: FilterTemplate<"Chat"> = { key: "all", values: [], build: (query) => query }

@Resolver()
export class ChatListResolver {
  @Access("company")
  @Query(() => ChatConnection, { description: "Chats by most recent activity; by cursor, or by offset the legacy way." })
  async chats(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
    @Arg("where", () => ChatWhere, { nullable: true, description: "Conditions, typed." }) where?: ChatWhere,
    @Arg("filter", () => String, { nullable: true, description: "The same conditions as text: field:op:value;…" }) filter?: string,
    @Arg("search", () => String, { nullable: true, description: "Part of a name, account name, user name or phone number, in any case." })
    search?: string,
    @Arg("sortBy", () => ChatSortEnum, { nullable: true, description: "LAST_MESSAGE_AT when absent; the other one pages by offset." })
    sortBy?: string,
    @Arg("sortOrder", () => SortOrderEnum, { nullable: true, description: "DESC when absent." }) sortOrder?: string,
    @Arg("messenger", () => MessengerEnum, { nullable: true, description: "Only on this channel." }) messenger?: Messenger,
    @Arg("sourceChannel", () => String, { nullable: true, description: "Only from this channel of an aggregator." }) sourceChannel?: string,
    @Arg("fromId", () => String, { nullable: true, description: "Only on this connected account." }) fromId?: string,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Only assigned to this assistant." }) assistantId?: string,
    @Arg("managerId", () => String, { nullable: true, description: "Only assigned to this user; me, or null for nobody." })
    managerId?: string,
    @Arg("unread", () => Boolean, { nullable: true, description: "Only with, or without, unread messages." }) unread?: boolean,
    @Arg("isUnderAiControl", () => Boolean, { nullable: true, description: "Only with AI on, or off." }) isUnderAiControl?: boolean,
    @Arg("first", () => Int, { nullable: true, description: "How many, 1 to 100; 20 when absent." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the place to continue after." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over, the legacy way; not with after." }) skip?: number,
  ) {
    // The simple parameters are conditions like any other.
    const simple = { messenger, assistantId, managerId, unread, isUnderAiControl }
    const asWhere = Object.fromEntries(Object.entries(simple).map(([field, value]) => [field, { eq: value }]))
    const conditions = [
      ...whereConditions(chatFilterFields, asWhere),
      ...whereConditions(chatFilterFields, where ?? {}),
      ...(filter ? parseFilter(chatFilterFields, filter) : []),
    ]
    const walk = walkOf(sortBy, sortOrder, first, after, skip)
    // What is malformed is told before what is out of reach.
    placeOf(walk)
    const isWhole = conditions.length === 0 && !sourceChannel && !fromId && !search?.trim()
    if (isWhole) return connection(context.reader, chatReadModel, selectionOf(info), walk, everything, context.reach(companyId))
    const matching = filtered(context, conditions)
    const found: Narrow<"Chat"> = (query) => {
      let list = matching(query)
      if (sourceChannel) list = list.where("t.source_channel", "=", sourceChannel)
      if (fromId) list = list.where("t.from_id", "=", fromId)
      if (search?.trim()) list = list.where(sql<boolean>`t.search_text like lower(${`%${literal(search.trim())}%`})`)
      return list
    }
    return connection(context.reader, chatReadModel, selectionOf(info), walk, found, context.reach(companyId))
  }
}
