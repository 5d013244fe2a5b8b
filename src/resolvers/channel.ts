import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Query, Resolver } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Channel } from "../entities/channel.js"
import { UUID } from "../entities/kit/scalars.js"
import { Access } from "../graphql/access.js"
import { channelSource } from "../schema/channel.js"

@Resolver()
export class ChannelResolver {
  @Access("company")
  @Query(() => [Channel], { description: "Active channel connections." })
  channels(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { nullable: true, description: "Only this company's." }) companyId?: string,
  ) {
    return viewer.reader.list(
      channelSource,
      selectionOf(info),
      (query) => query.where("t.is_active", "=", true).orderBy("t.created_at").orderBy("t.id"),
      viewer.reach(companyId),
    )
  }
}
