import type { GraphQLResolveInfo } from "graphql"
import { Ctx, FieldResolver, Info, Query, Resolver, Root } from "type-graphql"
import { shownCapabilities } from "../channels/capabilities.js"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { PlannedRow } from "../database/read-model.js"
import { Channel } from "../entities/channel.js"
import { channelReadModel } from "../schema/channel.js"
import { CompanyArg } from "../schema/kit/arguments.js"
import { Needs } from "../schema/kit/needs.js"

@Resolver(() => Channel)
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

  @Needs<"Channel">("messenger")
  @FieldResolver()
  capabilities(@Root() { messenger }: PlannedRow<"Channel">, @Ctx() context: RequestContext) {
    return shownCapabilities(context, messenger!)
  }
}
