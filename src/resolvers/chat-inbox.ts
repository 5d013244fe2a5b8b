import { Arg, Ctx, Mutation, Resolver } from "type-graphql"
import { v7 } from "uuid"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { Chat } from "../entities/chat.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { clock } from "../entities/kit/clock.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors.js"
import { Access } from "../graphql/access.js"
import { mustBeSaid } from "../schema/kit/input.js"
import { resolverLimits } from "./limits.js"

const Label = Trimmed({ max: resolverLimits.chatLabel })
const CommentText = Trimmed({ max: resolverLimits.chatComment })

const makeTag = {
  name: "make-tag",
  text: `insert into chat_tag (id, created_at, updated_at, company_id, name) values ($1, $2, $2, $3, $4) on conflict (company_id, folded(name)) do nothing`,
}
const attachByName = {
  name: "attach-tag-by-name",
  text: `insert into chat_tagging (chat_id, tag_id, company_id) select $1, id, company_id from chat_tag where company_id = $2 and folded(name) = folded($3)
         on conflict do nothing returning tag_id`,
}
const detachByName = {
  name: "detach-tag-by-name",
  text: `delete from chat_tagging g using chat_tag t where t.id = g.tag_id and g.chat_id = $1 and t.company_id = $2 and folded(t.name) = folded($3) returning g.tag_id`,
}
const knownTags = { name: "known-tags", text: "select id from chat_tag where company_id = $1 and id = any($2::uuid[]) for key share" }
const attach = {
  name: "attach-tags",
  text: `insert into chat_tagging (chat_id, tag_id, company_id) select $1, tag, $2 from unnest($3::uuid[]) as tag on conflict do nothing returning tag_id`,
}
const detachOthers = {
  name: "detach-other-tags",
  text: "delete from chat_tagging where chat_id = $1 and company_id = $2 and tag_id <> all($3::uuid[]) returning tag_id",
}
const detachOne = {
  name: "detach-one-tag",
  text: "delete from chat_tagging where chat_id = $1 and company_id = $2 and tag_id = $3 returning tag_id",
}

/** Refuses ids that are no tags of the chat's company. */
async function mustBeTags(context: RequestContext, chat: Chat, ids: string[], path: string) {
  const known = await context.run(knownTags, [chat.companyId, ids])
  if (known.length === ids.length) return
  throw new BadUserInput(`${path} names no tag of this company`, [{ path, message: "names no tag of this company" }])
}

/** Tells the company's clients when something changed; a no-op is no news. */
const changedIf = (chat: Chat, rows: unknown[]) => (rows.length > 0 ? chat.changed() : chat)

@Resolver()
export class ChatInboxResolver {
  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat with a label; the tag is created when the dictionary lacks it." })
  async addChatLabel(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("label", () => Label) label: string) {
    const chat = await context.find(Chat, id)
    await context.run(makeTag, [v7(), clock.now(), chat.companyId, label])
    return changedIf(chat, await context.run(attachByName, [chat.id, chat.companyId, label]))
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Takes a label off the chat." })
  async removeChatLabel(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("label", () => String) label: string) {
    const chat = await context.find(Chat, id)
    return changedIf(chat, await context.run(detachByName, [chat.id, chat.companyId, label.trim()]))
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Puts the chat in a folder, or in none." })
  async setChatFolder(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("folderId", () => UUID, { nullable: true, description: "The folder; null unfiles." }) folderId: string | null | undefined,
  ) {
    mustBeSaid("folderId", folderId)
    const chat = await context.find(Chat, id)
    if (folderId) await context.referred(ChatFolder, folderId, "folderId", chat.companyId)
    if (chat.folderId === folderId) return chat
    chat.folderId = folderId ?? null
    return chat.changed()
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Gives the chat exactly these tags." })
  async setChatTags(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagIds", () => [UUID]) tagIds: string[]) {
    const chat = await context.find(Chat, id)
    const ids = [...new Set(tagIds)]
    await mustBeTags(context, chat, ids, "tagIds")
    const removed = await context.run(detachOthers, [chat.id, chat.companyId, ids])
    const added = await context.run(attach, [chat.id, chat.companyId, ids])
    return changedIf(chat, [...removed, ...added])
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Gives the chat one more tag." })
  async addChatTag(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagId", () => UUID) tagId: string) {
    const chat = await context.find(Chat, id)
    await mustBeTags(context, chat, [tagId], "tagId")
    return changedIf(chat, await context.run(attach, [chat.id, chat.companyId, [tagId]]))
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Takes a tag off the chat." })
  async removeChatTag(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("tagId", () => UUID) tagId: string) {
    const chat = await context.find(Chat, id)
    return changedIf(chat, await context.run(detachOne, [chat.id, chat.companyId, tagId]))
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Adds an internal comment; never sent to the customer." })
  async addChatComment(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string, @Arg("text", () => CommentText) text: string) {
    const chat = await context.find(Chat, id)
    return chat.comment(text, context.userId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Removes an internal comment." })
  async removeChatComment(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID) id: string,
    @Arg("commentId", () => UUID) commentId: string,
  ) {
    return (await context.find(Chat, id)).uncomment(commentId)
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat as read." })
  async markChatRead(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    return (await context.find(Chat, id)).read()
  }

  @Access("company")
  @Mutation(() => Chat, { description: "Marks the chat as unread, back to our side's last message." })
  async markChatUnread(@Ctx() context: RequestContext, @Arg("id", () => UUID) id: string) {
    const chat = await context.find(Chat, id)
    const [since] = await context.run(sinceOurLast, [chat.id, chat.companyId])
    const { sequence, at, count } = since!
    return chat.unread(sequence && at ? { sequence, at: new Date(at) } : null, Number(count))
  }
}

/** When our side last spoke, and how many customer messages came after. */
const sinceOurLast: Statement<{ at: string | null; sequence: number | null; count: string }> = {
  name: "since-our-last",
  text: `with ours as (
           select sequence, created_at from message
           where chat_id = $1 and company_id = $2 and role in ('User', 'Assistant') and type not in ('FunctionCall', 'FunctionCallOutput')
           order by sequence desc limit 1)
         select (select created_at from ours) as at, (select sequence from ours) as sequence, count(*) as count from message
         where chat_id = $1 and company_id = $2 and role = 'Customer' and sequence > coalesce((select sequence from ours), 0)`,
}
