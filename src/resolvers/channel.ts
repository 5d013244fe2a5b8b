import type { GraphQLResolveInfo } from "graphql"
import { Ctx, Info, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Channel } from "../entities/channel.js"
import { channelReadModel } from "../schema/channel.js"
import { CompanyArg } from "../schema/kit/arguments.js"

@Resolver()
export class ChannelResolver {
  @Access("company")
  @Query(() => [Channel], { description: "Active channel connections." })
  channels(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    return context.reader.list(
      channelReadModel,
      selectionOf(info),
      (query) => query.where("t.is_active", "=", true).orderBy("t.created_at").orderBy("t.id"),
      context.reach(companyId),
    )
  }
}
