import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { setGuardrails } from "../guardrails/set.js"
import { GuardrailSettingsInput } from "../schema/guardrail.js"
import { GuardrailHitConnection, guardrailHitReadModel } from "../schema/guardrail-hit.js"
import { GuardrailHitWhere, guardrailHitFilterFields } from "../schema/guardrail-hit-filter.js"
import { CompanyArg } from "../schema/kit/arguments.js"
import { parseFilter, whereConditions } from "../schema/kit/filter.js"
import { narrowedBy } from "../schema/kit/filter-sql.js"
import { connection, pageSize } from "../schema/kit/page.js"
import { cursorValues, type Paging } from "../schema/kit/paging.js"
import { resolverLimits } from "./limits.js"

const pagingOf = (first?: number, after?: string): Paging => ({
  list: "guardrailHits",
  keys: [
    { property: "createdAt", column: "created_at", type: "timestamptz" },
    { property: "id", column: "id", type: "uuid" },
  ],
  descending: true,
  size: pageSize(first, resolverLimits.pageDefault),
  after,
  skip: null,
})

@Resolver()
export class GuardrailResolver {
  @Access("company")
  @Query(() => GuardrailHitConnection, { description: "Texts that guardrails hit, newest first." })
  guardrailHits(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("from", () => DateTime, { nullable: true, description: "Returns only hits at this time or later." }) from?: Date,
    @Arg("to", () => DateTime, { nullable: true, description: "Returns only hits before this time." }) to?: Date,
    @Arg("where", () => GuardrailHitWhere, { nullable: true, description: "Conditions as an object." }) where?: GuardrailHitWhere,
    @Arg("filter", () => String, { nullable: true, description: "Conditions as text, in the form field:op:value;field:op:value." })
    filter?: string,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
  ) {
    const fields = guardrailHitFilterFields
    const conditions = [...whereConditions(fields, where ?? {}), ...(filter ? parseFilter(fields, filter) : [])]
    const paging = pagingOf(first, after)
    // A malformed cursor is refused before a company out of reach.
    cursorValues(paging)
    const matching = narrowedBy<"GuardrailHit">(fields, conditions)
    const found: Narrow<"GuardrailHit"> = (query) => {
      let list = matching(query)
      if (from) list = list.where("t.created_at", ">=", from.toISOString())
      if (to) list = list.where("t.created_at", "<", to.toISOString())
      return list
    }
    return connection(context.reader, guardrailHitReadModel, selectionOf(info), paging, found, context.reach(companyId))
  }

  @Access("company")
  @Mutation(() => Assistant, { description: "Replaces the guardrails of an assistant. They apply to the turns that begin from now on." })
  setAssistantGuardrails(
    @Ctx() context: RequestContext,
    @Arg("assistantId", () => UUID, { description: "ID of the assistant." }) assistantId: string,
    @Arg("guardrails", () => GuardrailSettingsInput, { description: "The guardrails; a rule that is absent is off." })
    guardrails: GuardrailSettingsInput,
  ) {
    return setGuardrails(context, assistantId, guardrails)
  }
}
