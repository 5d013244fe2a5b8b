import type { Statement } from "../database/unit-of-work.js"
import { chatDimensions } from "../entities/chat-count.js"

const facts = "is_unread, needs_attention, is_under_ai_control"

const { tag, ...ofChats } = chatDimensions

/** The dimensions of a change with its value in each: of a tag, or of a chat. */
const values = `lateral (
  select 'tag', ${tag("change")} where change.tag_id is not null
  union all select dimension, value
  from (values ${Object.entries(ofChats)
    .map(([name, value]) => `('${name}', ${value("change")})`)
    .join(", ")}) of_chat (dimension, value)
  where change.tag_id is null) each (dimension, value)`

const sumOf = (rows: string) => `
  select company_id, dimension, value, ${facts}, sum(chats)::integer as chats from ${rows}
  cross join ${values} group by company_id, dimension, value, ${facts}`

/**
 * Adds changes of numbers of chats to the numbers, at most `$1`; those of a deleted company are only removed. Locks are taken in the order of the key, the
 * company's before those of its numbers, so that no other instance, and no deletion of a company, waits for this in a circle.
 */
export const addUpCounts: Statement<{ count: number }> = {
  name: "add-up-chat-counts",
  text: `
    with change as (
      delete from chat_count_change where id in (select id from chat_count_change order by id limit $1 for update skip locked) returning *
    ), sums as (
      ${sumOf("change")} having sum(chats) <> 0
    ), added as (
      insert into chat_count (company_id, dimension, value, ${facts}, chats)
      select s.* from sums s join company c on c.id = s.company_id order by s.company_id, dimension, value, ${facts} for key share of c
      on conflict (company_id, dimension, value, ${facts}) do update set chats = chat_count.chats + excluded.chats
    )
    select count(*)::integer as count from change`,
}

const ofChat = `messenger, folder_id, manager_id, unread_count > 0 as is_unread,
  not is_under_ai_control and ai_disable_reason is not distinct from 'auto' and not is_attended as needs_attention, is_under_ai_control`

/** Kept numbers of chats that differ from their chats and taggings, at most 1,000. */
export const wrongCounts = {
  name: "wrong-chat-counts",
  text: `
    with change as (
      select company_id, tag_id, messenger, folder_id, manager_id, ${facts}, chats from chat_count_change
    ), kept as (
      select company_id, dimension, value, ${facts}, chats from chat_count union all ${sumOf("change")}
    ), stored as (
      ${sumOf(`(
        select company_id, null::uuid as tag_id, ${ofChat}, 1 as chats from chat
        union all select g.company_id, g.tag_id, null, null, null, c.is_unread, c.needs_attention, c.is_under_ai_control, 1
        from chat_tagging g join (select id, ${ofChat} from chat) c on c.id = g.chat_id
      ) change`)}
    ), difference as (
      select company_id, dimension, value, ${facts}, sum(kept) as kept, sum(recounted) as recounted
      from (select *, chats as kept, 0 as recounted from kept union all select *, 0, chats from stored) both_of
      group by company_id, dimension, value, ${facts}
    )
    select company_id as "companyId", dimension, value, is_unread as "isUnread", needs_attention as "needsAttention",
      is_under_ai_control as "isUnderAiControl", kept::integer as kept, recounted::integer as recounted
    from difference where kept <> recounted order by company_id, dimension, value limit 1000`,
}

/** Taggings that repeat facts of their chat wrongly, at most 1,000. */
export const wrongTaggings = {
  name: "wrong-taggings",
  text: `
    select g.company_id as "companyId", g.chat_id as "chatId", g.tag_id as "tagId"
    from chat_tagging g join (select id, ${ofChat} from chat) c on c.id = g.chat_id
    where (g.messenger, g.is_unread, g.needs_attention, g.is_under_ai_control)
      is distinct from (c.messenger, c.is_unread, c.needs_attention, c.is_under_ai_control)
    order by g.chat_id, g.tag_id limit 1000`,
}
