import type { GraphQLResolveInfo } from "graphql"
import { Ctx, Info, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Company } from "../entities/company.js"
import { companyReadModel } from "../schema/company.js"
import { IdArg } from "../schema/kit/arguments.js"

@Resolver()
export class CompanyResolver {
  @Access("company")
  @Query(() => [Company], { description: "Companies of the signed-in user; with an access token, only its company." })
  myCompanies(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    return context.reader.list(companyReadModel, selectionOf(info), (query) => query.orderBy("t.name").orderBy("t.id"))
  }

  @Access("company")
  @Query(() => Company, { nullable: true, description: "A company." })
  company(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("company") id: string) {
    return context.one(companyReadModel, id, info)
  }
}
