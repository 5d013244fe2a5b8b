import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { Stretch } from "../entities/stretch.js"
import { endStretch } from "../outcomes/end-stretch.js"
import { CompanyArg } from "../schema/kit/arguments.js"
import { parseFilter, whereConditions } from "../schema/kit/filter.js"
import { narrowedBy } from "../schema/kit/filter-sql.js"
import { connection, pageSize } from "../schema/kit/page.js"
import { cursorValues, type Paging } from "../schema/kit/paging.js"
import { StretchConnection, stretchReadModel } from "../schema/stretch.js"
import { StretchFilters, stretchFilterFields } from "../schema/stretch-filter.js"
import { resolverLimits } from "./limits.js"

const pagingOf = (first?: number, after?: string): Paging => ({
  list: "stretches",
  keys: [
    { property: "startedAt", column: "started_at", type: "timestamptz" },
    { property: "id", column: "id", type: "uuid" },
  ],
  descending: true,
  size: pageSize(first, resolverLimits.pageDefault),
  after,
  skip: null,
})

@Resolver()
export class StretchResolver {
  @Access("company")
  @Query(() => StretchConnection, { description: "Stretches of chats, those that started last first." })
  stretches(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("chatId", () => UUID, { nullable: true, description: "Returns only stretches of this chat." }) chatId?: string,
    @Arg("from", () => DateTime, { nullable: true, description: "Returns only stretches that started at this time or later." })
    from?: Date,
    @Arg("to", () => DateTime, { nullable: true, description: "Returns only stretches that started before this time." }) to?: Date,
    @Arg("filters", () => StretchFilters, { nullable: true, description: "Conditions as an object." }) filters?: StretchFilters,
    @Arg("filter", () => String, { nullable: true, description: "Conditions as text, in the form field:op:value;field:op:value." })
    filter?: string,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
  ) {
    const conditions = [...whereConditions(stretchFilterFields, filters ?? {}), ...(filter ? parseFilter(stretchFilterFields, filter) : [])]
    const matching = narrowedBy<"Stretch">(stretchFilterFields, conditions)
    const paging = pagingOf(first, after)
    // A malformed cursor is refused before a company out of reach.
    cursorValues(paging)
    const found: Narrow<"Stretch"> = (query) => {
      let list = matching(query)
      if (chatId) list = list.where("t.chat_id", "=", chatId)
      if (from) list = list.where("t.started_at", ">=", from.toISOString())
      if (to) list = list.where("t.started_at", "<", to.toISOString())
      return list
    }
    return connection(context.reader, stretchReadModel, selectionOf(info), paging, found, context.reach(companyId))
  }

  @Access("company")
  @Mutation(() => Stretch, {
    description:
      "Ends the open stretch of a chat; the customer's next message begins another one. Returns the chat's last stretch, also when it had ended.",
  })
  endStretch(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("chatId", () => UUID, { description: "ID of the chat." }) chatId: string,
  ) {
    return endStretch(context, chatId, selectionOf(info))
  }
}
