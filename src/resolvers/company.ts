import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Company } from "../entities/company.js"
import { UUID } from "../entities/kit/scalars.js"
import { companyReadModel } from "../schema/company.js"

@Resolver()
export class CompanyResolver {
  @Access("company")
  @Query(() => [Company], { description: "The companies of the user; with an access token its company alone." })
  myCompanies(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    return context.reader.list(companyReadModel, selectionOf(info), (query) => query.orderBy("t.name").orderBy("t.id"))
  }

  @Access("company")
  @Query(() => Company, { nullable: true, description: "One company." })
  company(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return context.one(companyReadModel, id, info)
  }
}
