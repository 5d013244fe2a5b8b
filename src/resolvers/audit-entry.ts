import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { FilterTemplate } from "../database/reader.js"
import { UUID } from "../entities/kit/scalars.js"
import { AuditEntryConnection, auditEntryReadModel } from "../schema/audit-entry.js"
import { connection, pageSize } from "../schema/kit/page.js"
import { resolverLimits } from "./limits.js"

const all: FilterTemplate<"AuditEntry"> = { key: "all", values: [], build: (query) => query }

@Resolver()
export class AuditEntryResolver {
  @Access("manager")
  @Query(() => AuditEntryConnection, {
    description:
      "Changes of assistants, tools, knowledge items, access tokens, channels, event webhooks, members, subscriptions and balances of a company, newest first; for its owners and admins, not for access tokens.",
  })
  auditEntries(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { description: "ID of the company." }) companyId: string,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
  ) {
    const paging = {
      list: `audit entries ${companyId}`,
      keys: [
        { property: "createdAt", column: "created_at", type: "timestamptz" as const },
        { property: "id", column: "id", type: "uuid" as const },
      ],
      descending: true,
      size: pageSize(first, resolverLimits.pageDefault),
      after,
      skip: null,
    }
    return connection(context.reader, auditEntryReadModel, selectionOf(info), paging, all, [companyId])
  }
}
