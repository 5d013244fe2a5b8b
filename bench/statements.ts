/** A message as JSON: the fields that every contestant answers after storing one. */
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

/** A property's column. */
export const column = (property: string) => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** SQL of a JSON object with these properties of a row, and others by their expressions. */
export const json = (alias: string, properties: string[], others: Record<string, string> = {}) => {
  const own = properties.map((name) => `'${name}', ${alias}.${column(name)}`)
  return `json_build_object(${[...own, ...Object.entries(others).map(([name, value]) => `'${name}', ${value}`)].join(", ")})`
}

/** SQL of a JSON object that is null where the joined row is missing. */
const jsonOrNull = (alias: string, properties: string[]) => `case when ${alias}.id is not null then ${json(alias, properties)} end`

/**
 * W5 in one statement: the chat is locked and gives the next place, the message is inserted, the chat moves, the event is written. The
 * same work as the server's own statement, without its cases (quotes, tool frames, customers, companies out of reach).
 */
export const storeMessage = (id: string, chat: string, text: string, answer: string) => `
  with place as (
    update chat set last_sequence = last_sequence + 1, updated_at = now(), last_message_at = now(), last_message_id = ${id}
    where id = ${chat}
    returning id, company_id, last_sequence, from_id, case when messenger in ('widget', 'playground') then 'sent' else 'queued' end as status
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at)
    select ${id}, now(), now(), company_id, id, last_sequence, 'User', 'Text', ${text}, from_id, status,
      case when status = 'sent' then now() end
    from place returning *
  ), told as (
    insert into event (company_id, chat_id, type, payload, created_at)
    select company_id, chat_id, 'MESSAGE_CREATED', jsonb_build_object('message', ${json("made", messageFields)}), now() from made
  )
  select ${answer} from made`

const listed = {
  chat: ["id", "messenger", "fromId", "externalId", "name", "username", "unreadCount", "isUnderAiControl", "lastMessageAt"],
  message: ["id", "sequence", "role", "type", "text", "status", "createdAt"],
  assistant: ["id", "name", "language"],
  folder: ["id", "name", "color"],
  tag: ["id", "name", "color"],
}

/** What W1 and W2 ask of each row, by type. */
export const selections = listed

/** W1 and W6: 50 chats by recency with last message, assistant, folder and tags; `after` is a condition on the keyset. */
export const chatPage = (after = "true") => `
  select json_build_object('nodes', coalesce(json_agg(row order by recency desc, id desc), '[]'),
    'endCursor', (array_agg(recency || ' ' || id order by recency, id))[1])::text as body
  from (
    select page.id, page.recency, ${json("page", listed.chat, {
      lastMessage: jsonOrNull("m", listed.message),
      assistant: jsonOrNull("a", listed.assistant),
      folder: jsonOrNull("f", listed.folder),
      tags: "coalesce(tags.list, '[]')",
    })} as row
    from (select * from chat where company_id = $1 and ${after} order by recency desc, id desc limit 50) page
    left join message m on m.id = page.last_message_id
    left join assistant a on a.id = page.assistant_id
    left join chat_folder f on f.id = page.folder_id
    left join lateral (
      select json_agg(${json("t", listed.tag)} order by lower(t.name)) as list
      from chat_tagging g join chat_tag t on t.id = g.tag_id where g.chat_id = page.id
    ) tags on true
  ) listed`

/** W2: the 30 newest messages of a chat with the quoted one. */
export const messagePage = `
  select json_build_object('nodes', coalesce(json_agg(row order by sequence desc), '[]'))::text as body
  from (
    select page.sequence, ${json("page", listed.message, { replyTo: jsonOrNull("q", listed.message) })} as row
    from (select * from message where chat_id = $1 order by sequence desc limit 30) page
    left join message q on q.id = page.reply_to_message_id
  ) listed`
