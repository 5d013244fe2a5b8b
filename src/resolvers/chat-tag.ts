import type { GraphQLResolveInfo } from "graphql"
import { sql } from "kysely"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { assistantLimits } from "../assistant/limits.js"
import { inBatches } from "../context/batches.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { ChatTag } from "../entities/chat-tag.js"
import { Access } from "../graphql/access.js"
import { CreateChatTagInput, chatTagReadModel, UpdateChatTagInput } from "../schema/chat-tag.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, patch, refuseNulls } from "../schema/kit/input.js"

/** A tag that is called otherwise is suggested again: exclusions go by name. */
const dropExclusion = {
  name: "drop-tag-exclusion",
  text: `update assistant set updated_at = $4,
           excluded_tags = array(select tag from unnest(excluded_tags) with ordinality as t (tag, place) where folded(tag) <> folded($2) order by place)
         where company_id = $1 and folded($2) <> folded($3) and exists (select 1 from unnest(excluded_tags) as tag where folded(tag) = folded($2))`,
}

const detach = {
  name: "detach-tag",
  text: `with batch as (select chat_id from chat_tagging where tag_id = $1 and company_id = any($2::uuid[]) limit $3 for update skip locked)
         delete from chat_tagging g using batch where g.chat_id = batch.chat_id and g.tag_id = $1 returning g.chat_id`,
}

@Resolver()
export class ChatTagResolver {
  @Access("company")
  @Query(() => [ChatTag], { description: "Chat tags, sorted by name." })
  chatTags(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    const byName = sql`lower(t.name)`
    return context.reader.list(
      chatTagReadModel,
      selectionOf(info),
      (query) => query.orderBy(byName).orderBy("t.id"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Mutation(() => ChatTag, { description: "Creates a chat tag. Its name must be unique in the company, regardless of case." })
  createChatTag(@Ctx() context: RequestContext, @Arg("input", () => CreateChatTagInput) input: CreateChatTagInput) {
    const tag = patch(context, new ChatTag(), { ...input, companyId: context.company(input.companyId) })
    context.em.persist(tag)
    return tag
  }

  @Access("company")
  @Mutation(() => ChatTag, {
    description: "Changes the name or the color of a chat tag. A renamed tag is removed from excludedTags of the assistants.",
  })
  async updateChatTag(
    @Ctx() context: RequestContext,
    @IdArg("chat tag") id: string,
    @Arg("input", () => UpdateChatTagInput) input: UpdateChatTagInput,
  ) {
    refuseNulls(context, ChatTag, input)
    const tag = await context.find(ChatTag, id, "Chat tag")
    const before = tag.name
    patch(context, tag, input)
    if (tag.name !== before) await context.run(dropExclusion, [tag.companyId, before, tag.name, tag.updatedAt])
    return tag
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => DeleteResult, { description: "Deletes a chat tag and removes it from all chats." })
  async deleteChatTag(@Ctx() context: RequestContext, @IdArg("chat tag") id: string) {
    await context.transaction((tx) => tx.find(ChatTag, id, "Chat tag"))
    // In batches of their own, so that no chat waits long for it; what is attached meanwhile goes with the tag.
    await inBatches(context, detach, [id], assistantLimits.detachBatch)
    return context.transaction(async (tx) => deleted(tx, await tx.find(ChatTag, id, "Chat tag")))
  }
}
