import { v7 } from "uuid"
import { inBatches } from "../context/batches.js"
import { contextLimits } from "../context/limits.js"
import type { RequestContext } from "../context/request-context.js"
import { noRoom } from "../context/room.js"
import type { RowOf } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import type { ChatTag } from "../entities/chat-tag.js"
import { clock } from "../entities/kit/clock.js"
import { BadUserInput } from "../errors/errors.js"
import { chatLimits } from "./limits.js"

const makeTag = {
  name: "make-tag",
  text: `insert into chat_tag (id, created_at, updated_at, company_id, name) values ($1, $2, $2, $3, $4) on conflict (company_id, folded(name)) do nothing`,
}
const attachByName: Statement<{ is_known: boolean; is_attached: boolean }> = {
  name: "attach-tag-by-name",
  text: `with tag as (
           select id, company_id from chat_tag where company_id = $2 and folded(name) = folded($3)
         ), attached as (
           insert into chat_tagging (chat_id, tag_id, company_id) select $1, id, company_id from tag on conflict do nothing returning tag_id
         )
         select exists (select from tag) as is_known, exists (select from attached) as is_attached`,
}
const tagsOfCompany: Statement<{ count: number }> = {
  name: "tags-of-company",
  text: "select count(*)::integer as count from chat_tag where company_id = $1",
}
const detachByName = {
  name: "detach-tag-by-name",
  text: `delete from chat_tagging g using chat_tag t where t.id = g.tag_id and t.company_id = g.company_id and g.chat_id = $1 and t.company_id = $2 and folded(t.name) = folded($3) returning g.tag_id`,
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
const detachEverywhere = {
  name: "detach-tag",
  text: `with batch as (
           select chat_id, company_id from chat_tagging where tag_id = $1 and company_id = any($2::uuid[]) limit $3 for update skip locked)
         delete from chat_tagging g using batch where g.chat_id = batch.chat_id and g.company_id = batch.company_id and g.tag_id = $1
         returning g.chat_id`,
}
const dropExclusion: Statement<RowOf<"Assistant", "id" | "company_id">> = {
  name: "drop-tag-exclusion",
  text: `update assistant set updated_at = $4,
           excluded_tags = array(select tag from unnest(excluded_tags) with ordinality as t (tag, place) where folded(tag) <> folded($2) order by place)
         where company_id = $1 and folded($2) <> folded($3) and exists (select 1 from unnest(excluded_tags) as tag where folded(tag) = folded($2))
         returning id, company_id`,
}

/** Adds a label to a chat; creates the tag when the company has none of this name. The chats of this file must be locked. */
export async function addLabel(unit: UnitOfWork, chat: Chat, label: string): Promise<Chat> {
  const attached = async () => (await unit.run(attachByName, [chat.id, chat.companyId, label]))[0]!
  let tag = await attached()
  if (!tag.is_known) {
    // Without a lock of the company, which other transactions take before those of chats: labels of one moment may exceed the limit by a few.
    const [tags] = await unit.run(tagsOfCompany, [chat.companyId])
    const most = contextLimits.plainListRows
    if (tags!.count >= most) throw noRoom(most, "chat tags")
    await unit.run(makeTag, [v7(), clock.now(), chat.companyId, label])
    tag = await attached()
  }
  return tag.is_attached ? chat.changed() : chat
}

/** Removes a label from a chat. */
export async function removeLabel(unit: UnitOfWork, chat: Chat, label: string): Promise<Chat> {
  return changedIf(chat, await unit.run(detachByName, [chat.id, chat.companyId, label.trim()]))
}

/** Replaces the tags of a chat. */
export async function setTags(unit: UnitOfWork, chat: Chat, tagIds: string[]): Promise<Chat> {
  const ids = [...new Set(tagIds)]
  await mustBeTags(unit, chat, ids, "tagIds")
  const removed = await unit.run(detachOthers, [chat.id, chat.companyId, ids])
  const added = await unit.run(attach, [chat.id, chat.companyId, ids])
  return changedIf(chat, [...removed, ...added])
}

/** Adds a tag to a chat. */
export async function addTag(unit: UnitOfWork, chat: Chat, tagId: string): Promise<Chat> {
  await mustBeTags(unit, chat, [tagId], "tagId")
  return changedIf(chat, await unit.run(attach, [chat.id, chat.companyId, [tagId]]))
}

/** Removes a tag from a chat. */
export async function removeTag(unit: UnitOfWork, chat: Chat, tagId: string): Promise<Chat> {
  return changedIf(chat, await unit.run(detachOne, [chat.id, chat.companyId, tagId]))
}

/** Removes a tag that is being deleted from all chats, in batches with their own transactions, so that no chat is locked for long. */
export const removeTagEverywhere = (context: RequestContext, tagId: string): Promise<void> =>
  inBatches(context, detachEverywhere, [tagId], chatLimits.detachBatch)

/** Removes the old name of a renamed tag from `excludedTags` of assistants, which refer to tags by name. */
export async function dropExclusions(unit: UnitOfWork, tag: ChatTag, nameBefore: string): Promise<void> {
  if (tag.name === nameBefore) return
  const assistants = await unit.run(dropExclusion, [tag.companyId, nameBefore, tag.name, tag.updatedAt])
  unit.audit.changedByStatement(Assistant, assistants, ["excludedTags"])
}

/** Throws for IDs that are no tags of the chat's company. */
async function mustBeTags(unit: UnitOfWork, chat: Chat, ids: string[], path: string) {
  const known = await unit.run(knownTags, [chat.companyId, ids])
  if (known.length === ids.length) return
  throw new BadUserInput(`${path} names no tag of this company`, [{ path, message: "names no tag of this company" }])
}

/** Emits the event of a chat that has changed. */
const changedIf = (chat: Chat, rows: unknown[]) => (rows.length > 0 ? chat.changed() : chat)
