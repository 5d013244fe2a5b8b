import { Arg, Ctx, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { outcomesOf } from "../outcomes/report.js"
import { parseFilter, whereConditions } from "../schema/kit/filter.js"
import { type GroupBy, OutcomeGroupByEnum, Outcomes } from "../schema/outcome.js"
import { StretchFilters, stretchFilterFields } from "../schema/stretch-filter.js"

@Resolver()
export class OutcomeResolver {
  @Access("company")
  @Query(() => Outcomes, {
    description: "A report over stretches of chats that started in a period and have ended, compared with the period before.",
  })
  outcomes(
    @Ctx() context: RequestContext,
    @Arg("companyId", () => UUID, { nullable: true, description: "ID of the company. Required for users of several companies." })
    companyId?: string,
    @Arg("from", () => DateTime, {
      nullable: true,
      description: "Begin of the period. Default: 28 days before its end, by the time zone.",
    })
    from?: Date,
    @Arg("to", () => DateTime, {
      nullable: true,
      description: "End of the period, which it does not include. Default: the end of today in the time zone.",
    })
    to?: Date,
    @Arg("by", () => OutcomeGroupByEnum, { nullable: true, description: "By what the stretches are grouped. Default: DAY." }) by?: GroupBy,
    @Arg("filters", () => StretchFilters, { nullable: true, description: "Conditions as an object." }) filters?: StretchFilters,
    @Arg("filter", () => String, { nullable: true, description: "Conditions as text, in the form field:op:value;field:op:value." })
    filter?: string,
    @Arg("timeZone", () => String, {
      nullable: true,
      description: "Time zone of days and weeks, by its name in the IANA database. Default: UTC.",
    })
    timeZone?: string,
  ) {
    const conditions = [...whereConditions(stretchFilterFields, filters ?? {}), ...(filter ? parseFilter(stretchFilterFields, filter) : [])]
    return outcomesOf(context, {
      companyId: context.company(companyId),
      from,
      to,
      by: by ?? "DAY",
      timeZone: timeZone ?? "UTC",
      conditions,
    })
  }
}
