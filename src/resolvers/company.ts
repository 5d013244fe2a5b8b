import type { GraphQLResolveInfo } from "graphql"
import { Ctx, FieldResolver, Info, Query, Resolver, Root } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { PlannedRow } from "../database/read-model.js"
import { Company, Member } from "../entities/company.js"
import { companyMembers, companyReadModel, companySubscriptions, userReadModel } from "../schema/company.js"
import { IdArg } from "../schema/kit/arguments.js"
import { Needs } from "../schema/kit/needs.js"

@Resolver(() => Company)
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

  @Needs<"Company">("id")
  @FieldResolver()
  members(@Root() { id }: PlannedRow<"Company">, @Ctx() { reader }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return reader.many(companyMembers, id, selectionOf(info))
  }

  @Needs<"Company">("id")
  @FieldResolver()
  subscriptions(@Root() { id }: PlannedRow<"Company">, @Ctx() { reader }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return reader.many(companySubscriptions, id, selectionOf(info))
  }
}

/** Fields of the user that both resolvers below select, so that they share one read. */
const userFields = { email: {}, name: {} }

@Resolver(() => Member)
export class MemberResolver {
  @Needs<"Member">("userId")
  @FieldResolver()
  async email(@Root() { userId }: PlannedRow<"Member">, @Ctx() { reader }: RequestContext) {
    return (await reader.byId(userReadModel, userId!, userFields))?.email
  }

  @Needs<"Member">("userId")
  @FieldResolver()
  async name(@Root() { userId }: PlannedRow<"Member">, @Ctx() { reader }: RequestContext) {
    return (await reader.byId(userReadModel, userId!, userFields))?.name
  }
}
