import { undeliverable } from "../src/messages/undeliverable.js"

/** The fields of a message that every contestant returns after storing one. */
export const messageFields = [
  "id",
  "companyId",
  "chatId",
  "sequence",
  "role",
  "type",
  "text",
  "source",
  "fromId",
  "status",
  "sentAt",
  "deliveredAt",
  "deliveryError",
  "externalId",
  "authorId",
  "contextId",
  "replyToMessageId",
  "sources",
  "createdAt",
  "updatedAt",
]

/** The fields that lists select, by type. */
export const selections = {
  chat: ["id", "messenger", "fromId", "externalId", "name", "username", "unreadCount", "isUnderAiControl", "lastMessageAt"],
  message: ["id", "sequence", "role", "type", "text", "status", "createdAt"],
  assistant: ["id", "name", "language"],
  folder: ["id", "name", "color"],
  tag: ["id", "name", "color"],
  media: ["id", "filename", "mimeType", "size"],
}

/** A property's column. */
export const column = (property: string) => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** SQL of a JSON object with these properties of a row, and others by expression. */
export const json = (alias: string, properties: string[], others: Record<string, string> = {}) => {
  const own = properties.map((name) => `'${name}', ${alias}.${column(name)}`)
  return `json_build_object(${[...own, ...Object.entries(others).map(([name, value]) => `'${name}', ${value}`)].join(", ")})`
}

/** SQL of a JSON object that is null where the joined row is missing. */
const jsonOrNull = (alias: string, properties: string[]) => `case when ${alias}.id is not null then ${json(alias, properties)} end`

/**
 * W5 in one statement: it locks the chat and takes the next sequence number, inserts the message, updates the chat, and writes the event. The
 * same work as the server's own statement, without its special cases (quotes, tool frames, customers, other companies).
 */
export const storeMessage = (id: string, chat: string, text: string, answer: string) => `
  with place as (
    update chat set last_sequence = last_sequence + 1, updated_at = now(), last_message_at = now(), last_message_id = ${id}
    where id = ${chat}
    returning id, company_id, messenger, last_sequence, from_id, case
      when messenger in ('widget', 'playground') then 'sent'
      when exists (select from channel c where c.company_id = chat.company_id and c.messenger = chat.messenger and c.external_id = chat.from_id and c.is_active)
        then 'queued'
      else 'failed' end as status
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at, delivery_error, delivery_error_code)
    select ${id}, now(), now(), company_id, id, last_sequence, 'User', 'Text', ${text}, from_id, status,
      case when status = 'sent' then now() end,
      case when status = 'failed' then format('${undeliverable.noConnection("%s", "%s")}', messenger, from_id) end,
      case when status = 'failed' then 'NOT_CONNECTED' end
    from place returning *
  ), told as (
    insert into event (company_id, chat_id, type, payload, created_at)
    select company_id, chat_id, 'MESSAGE_CREATED', jsonb_build_object('message', ${json("made", messageFields)}), now() from made
  )
  select ${answer} from made`

const newestFirst = "order by recency desc, id desc"

/** The condition of W3: unread, on a messenger, with any of some tags. */
export const filter = (company: string, messenger: string, tags: string) =>
  `t.company_id = ${company} and t.unread_count > 0 and t.messenger = ${messenger}
   and exists (select 1 from chat_tagging g where g.chat_id = t.id and g.tag_id = any(${tags}))`

/** The condition of W4: a part of the searched text, ignoring case. */
export const search = (company: string, term: string) => `t.company_id = ${company} and t.search_text like lower(${term})`

const matching = filter("$1", "$2", "$3::uuid[]")

/** The rows of a page of chats. */
export const chatPages = {
  latest: `select * from chat where company_id = $1 ${newestFirst} limit 50`,
  after: `select * from chat where company_id = $1 and (recency, id) < ($2::timestamptz, $3::uuid) ${newestFirst} limit 50`,
  filtered: `select * from chat t where ${matching} ${newestFirst} limit 50`,
  found: `select * from chat t where ${search("$1", "$2")} ${newestFirst} limit 50`,
}

/** The number of chats that W3 finds. */
export const countFiltered = `select count(*)::int as count from chat t where ${matching}`

const filteredOnce = `with found as materialized (select t.id, t.recency from chat t where ${matching})`
const filteredPage = `select * from chat where id in (select id from found ${newestFirst} limit 50)`

/** 50 chats by recency as one JSON text, with last message, assistant, folder and tags. */
const chatPage = (page: string, before = "", more = "") => `${before}
  select json_build_object('nodes', coalesce(json_agg(row ${newestFirst}), '[]'),
    'endCursor', (array_agg(recency || ' ' || id order by recency, id))[1]${more})::text as body
  from (
    select page.id, page.recency, ${json("page", selections.chat, {
      lastMessage: jsonOrNull("m", selections.message),
      assistant: jsonOrNull("a", selections.assistant),
      folder: jsonOrNull("f", selections.folder),
      tags: "coalesce(tags.list, '[]')",
    })} as row
    from (${page}) page
    left join message m on m.id = page.last_message_id
    left join assistant a on a.id = page.assistant_id
    left join chat_folder f on f.id = page.folder_id
    left join lateral (
      select json_agg(${json("t", selections.tag)} order by lower(t.name)) as list
      from chat_tagging g join chat_tag t on t.id = g.tag_id where g.chat_id = page.id
    ) tags on true
  ) listed`

/** LIMIT's lists of chats, each one statement: W1, W6, W3 and W4. */
export const chatStatements = {
  latest: chatPage(chatPages.latest),
  after: chatPage(chatPages.after),
  filtered: chatPage(filteredPage, filteredOnce, ", 'totalCount', (select count(*) from found)"),
  found: chatPage(chatPages.found),
}

/** W2 as one JSON text: the 30 newest messages of a chat with the quoted ones and their files. */
export const messageStatement = `
  select json_build_object('nodes', coalesce(json_agg(row order by sequence desc), '[]'))::text as body
  from (
    select page.sequence, ${json("page", selections.message, {
      replyTo: jsonOrNull("q", selections.message),
      messageMedia: "coalesce(files.list, '[]')",
    })} as row
    from (select * from message where chat_id = $1 order by sequence desc limit 30) page
    left join message q on q.id = page.reply_to_message_id
    left join lateral (
      select json_agg(json_build_object('media', ${json("f", selections.media)}) order by l.position) as list
      from message_media l join media f on f.id = l.media_id where l.message_id = page.id
    ) files on true
  ) listed`
