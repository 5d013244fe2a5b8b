import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Query, Resolver } from "type-graphql"
import type { Query as Sql } from "../database/source.js"
import { type Messenger, MessengerEnum } from "../entities/channel.js"
import { isUuid, UUID } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors.js"
import { limits } from "../limits.js"
import { ChatConnection, chatSource, SortOrderEnum } from "../schema/chat.js"
import { Access } from "../schema/kit/access.js"
import { connection, pageOffset, pageSize } from "../schema/kit/page.js"
import { selectionOf } from "../schema/kit/selection.js"
import type { Viewer } from "../schema/kit/viewer.js"

/** The manager that a list asks for: a user, `me`, or `null` for nobody. */
function managerCondition(viewer: Viewer, managerId: string) {
  if (managerId === "null") return sql<boolean>`t.manager_id is null`
  if (managerId === "me" && viewer.userId) return sql<boolean>`t.manager_id = ${viewer.userId}`
  if (isUuid(managerId)) return sql<boolean>`t.manager_id = ${managerId.toLowerCase()}`
  const message = managerId === "me" ? "me needs a signed-in user, not an access token" : "must be a user's id, me, or null"
  throw new BadUserInput(`managerId: ${message}`, [{ path: "managerId", message }])
}

@Resolver()
export class ChatListResolver {
  @Access("company")
  @Query(() => ChatConnection, { description: "Chats by most recent activity; by cursor, or by offset the legacy way." })
  async chats(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
    @Arg("messenger", () => MessengerEnum, { nullable: true, description: "Only on this channel." }) messenger?: Messenger,
    @Arg("sourceChannel", () => String, { nullable: true, description: "Only from this channel of an aggregator." }) sourceChannel?: string,
    @Arg("fromId", () => String, { nullable: true, description: "Only on this connected account." }) fromId?: string,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Only assigned to this assistant." }) assistantId?: string,
    @Arg("managerId", () => String, { nullable: true, description: "Only assigned to this user; me, or null for nobody." })
    managerId?: string,
    @Arg("unread", () => Boolean, { nullable: true, description: "Only with, or without, unread messages." }) unread?: boolean,
    @Arg("isUnderAiControl", () => Boolean, { nullable: true, description: "Only with AI on, or off." }) isUnderAiControl?: boolean,
    @Arg("sortOrder", () => SortOrderEnum, { nullable: true, description: "DESC when absent." }) sortOrder?: string,
    @Arg("first", () => Int, { nullable: true, description: "How many, 1 to 100; 20 when absent." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the place to continue after." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over, the legacy way; not with after." }) skip?: number,
  ) {
    if (after && skip != null)
      throw new BadUserInput("Page by cursor or by skip, not both", [{ path: "cursor", message: "not together with skip" }])
    const filter = (query: Sql) => {
      let found = query
      if (messenger) found = found.where("t.messenger", "=", messenger)
      if (sourceChannel) found = found.where("t.source_channel", "=", sourceChannel)
      if (fromId) found = found.where("t.from_id", "=", fromId)
      if (assistantId) found = found.where("t.assistant_id", "=", assistantId)
      if (managerId) found = found.where(managerCondition(viewer, managerId))
      if (unread != null) found = found.where("t.unread_count", unread ? ">" : "=", 0)
      if (isUnderAiControl != null) found = found.where("t.is_under_ai_control", "=", isUnderAiControl)
      return found
    }
    const descending = sortOrder !== "ASC"
    const walk = {
      list: `chats ${descending ? "desc" : "asc"}`,
      keys: [
        { property: "recency", column: "recency", type: "timestamptz" as const },
        { property: "id", column: "id", type: "uuid" as const },
      ],
      descending,
      size: pageSize(first, limits.pageDefault),
      after,
      skip: skip == null ? null : pageOffset(skip),
    }
    return connection(viewer.reader, chatSource, selectionOf(info), walk, filter, viewer.reach(companyId))
  }
}
