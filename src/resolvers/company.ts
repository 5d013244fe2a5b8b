import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Query, Resolver } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Company } from "../entities/company.js"
import { UUID } from "../entities/kit/scalars.js"
import { Access } from "../graphql/access.js"
import { companySource } from "../schema/company.js"

@Resolver()
export class CompanyResolver {
  @Access("company")
  @Query(() => [Company], { description: "The companies of the user; with an access token its company alone." })
  myCompanies(@Ctx() viewer: Viewer, @Info() info: GraphQLResolveInfo) {
    return viewer.reader.list(companySource, selectionOf(info), (query) => query.orderBy("t.name").orderBy("t.id"))
  }

  @Access("company")
  @Query(() => Company, { nullable: true, description: "One company." })
  company(@Ctx() viewer: Viewer, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return viewer.one(companySource, id, info)
  }
}
