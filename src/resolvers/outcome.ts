import { Arg, Ctx, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { clock } from "../entities/kit/clock.js"
import { Timestamp } from "../entities/kit/scalars.js"
import { outcomesOf } from "../outcomes/report.js"
import { CompanyArg } from "../schema/kit/arguments.js"
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
    @CompanyArg() companyId?: string,
    @Arg("from", () => Timestamp, { nullable: true, description: "Begin of the period. Default: 28 days with today, of the time zone." })
    from?: Date,
    @Arg("to", () => Timestamp, { nullable: true, description: "End of the period, which it does not include. Default: now." }) to?: Date,
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
    const companyIds = context.reach(companyId)
    return outcomesOf(context, { companyIds, from, to: to ?? clock.now(), by: by ?? "DAY", timeZone: timeZone ?? "UTC", conditions })
  }
}
