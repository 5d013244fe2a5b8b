import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { originateCall } from "../calls/originate.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import { Call } from "../entities/call.js"
import { PhoneNumber, UUID } from "../entities/kit/scalars.js"
import { CallPage, CallSortEnum, callReadModel, OriginateCallInput } from "../schema/call.js"
import { CallWhere, callFilterFields } from "../schema/call-filter.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { literal, parseFilter, whereConditions } from "../schema/kit/filter.js"
import { narrowedBy } from "../schema/kit/filter-sql.js"
import { offsetPage } from "../schema/kit/page.js"
import { SortOrderEnum } from "../schema/kit/sort-order.js"
import { resolverLimits } from "./limits.js"

@Resolver()
export class CallResolver {
  @Access("company")
  @Query(() => CallPage, { description: "Calls, newest first." })
  calls(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("where", () => CallWhere, { nullable: true, description: "Conditions as an object." }) where?: CallWhere,
    @Arg("filter", () => String, { nullable: true, description: "Conditions as text, in the form field:op:value;field:op:value." })
    filter?: string,
    @Arg("search", () => String, {
      nullable: true,
      description: "Text to find in the telephone number of the customer or the name of the employee, regardless of case.",
    })
    search?: string,
    @Arg("phone", () => PhoneNumber, { nullable: true, description: "Returns only calls to this telephone number." }) phone?: string,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Returns only calls of the assistant with this ID." })
    assistantId?: string,
    @Arg("sortBy", () => CallSortEnum, { nullable: true, description: "Sort key. Default: CALL_DATE." }) sortBy?: string,
    @Arg("sortOrder", () => SortOrderEnum, { nullable: true, description: "Sort order. Default: DESC." }) sortOrder?: string,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) take?: number,
  ) {
    const conditions = [
      ...whereConditions(callFilterFields, { assistantId: { eq: assistantId } }),
      ...whereConditions(callFilterFields, where ?? {}),
      ...(filter ? parseFilter(callFilterFields, filter) : []),
    ]
    const matching = narrowedBy<"Call">(callFilterFields, conditions)
    const part = search?.trim() && `%${literal(search.trim())}%`
    const found: Narrow<"Call"> = (query) => {
      let list = matching(query)
      if (phone) list = list.where("t.phone_number", "=", phone)
      if (part) list = list.where(sql<boolean>`(t.phone_number ilike ${part} or t.employee_name ilike ${part})`)
      return list
    }
    const column = sortBy === "duration" ? "t.duration" : "t.call_date"
    const direction = sortOrder === "ASC" ? "asc" : "desc"
    const order: Narrow<"Call"> = (query) =>
      query
        // An index has the order of dates; only a duration can be null.
        .orderBy(sql.ref(column), (by) => (sortBy === "duration" ? by[direction]().nullsLast() : by[direction]()))
        .orderBy(sql.ref("t.id"), direction)
    const paging = { skip, take, defaultTake: resolverLimits.pageDefault }
    return offsetPage(context.reader, callReadModel, selectionOf(info), paging, found, order, () => context.reach(companyId))
  }

  @Access("company")
  @Query(() => Call, { nullable: true, description: "A call, with its replies." })
  call(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("call") id: string) {
    return context.one(callReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Call, { description: "Accepts a call of an assistant to a customer. It is dialed when a line of the company is free." })
  originateCall(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("assistantId", () => UUID, { description: "ID of the assistant that speaks." }) assistantId: string,
    @Arg("input", () => OriginateCallInput) input: OriginateCallInput,
  ) {
    return originateCall(context, assistantId, input, selectionOf(info))
  }
}
