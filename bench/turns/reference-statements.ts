import { json, messageFields } from "../statements.js"

const shownMessage = json("made", [...messageFields, "functionCall", "functionCallOutput"], {
  replyTo: "null",
  mediaIds: "json_build_array()",
  messageMedia: "json_build_array()",
})

/** The event of a message, as ours stores it. */
const toldMessage = `
  insert into event (company_id, chat_id, type, payload, created_at)
  select company_id, chat_id, 'MESSAGE_CREATED', jsonb_build_object('message', ${shownMessage}), now() from made`

const chatFields = ["id", "companyId", "messenger", "fromId", "externalId", "name", "accountName", "username", "phoneNumber", "chatType"]
const chatState = [
  "assistantId",
  "managerId",
  "folderId",
  "isUnderAiControl",
  "aiDisableReason",
  "unreadCount",
  "lastReadAt",
  "lastMessageAt",
]
const shownChat = json("opened", [...chatFields, ...chatState, "contextId", "createdAt", "updatedAt"], {
  folder: "null",
  needsAttention: "false",
  tags: "json_build_array()",
  meta: "json_build_object('labels', json_build_array(), 'comments', opened.comments, 'sourceChannel', opened.source_channel)",
})

/** A message of a known visitor: `$1` its id, `$2` chat, `$3` company, `$4` widget, `$5` text, `$6` message id, `$7`, `$8` pauses in ms. */
export const inbound = `
  with place as (
    update chat set last_sequence = last_sequence + 1, updated_at = now(), last_message_at = now(), last_message_id = $1,
      unread_count = unread_count + 1,
      reply_first_at = case when is_under_ai_control then coalesce(reply_first_at, now()) end,
      reply_due_at = case when is_under_ai_control then least(now() + $7::float8 * interval '1 ms',
        coalesce(reply_first_at, now()) + $8::float8 * interval '1 ms') end
    where id = $2 and company_id = $3 and messenger = 'widget'
      and exists (select from channel c where c.id = $4 and c.company_id = $3 and c.external_id = chat.from_id and c.is_active)
      and not exists (select from message m where m.chat_id = $2 and m.external_id = $6)
    returning id, company_id, last_sequence, external_id, (extract(epoch from reply_due_at) * 1000)::float8 as due
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, external_id)
    select $1, now(), now(), company_id, id, last_sequence, 'Customer', 'Text', $5, external_id, 'stored', $6 from place returning *
  ), told as (${toldMessage})
  select due from place`

/** A known customer's message on another channel: `$1` its id, `$2` connection, `$3` messenger, `$4` customer, `$5` text, `$6` message id. */
export const inboundOfChannel = `
  with place as (
    update chat set last_sequence = last_sequence + 1, updated_at = now(), last_message_at = now(), last_message_id = $1,
      unread_count = unread_count + 1
    from channel c
    where c.id = $2 and c.messenger = $3 and c.is_active and chat.company_id = c.company_id and chat.messenger = c.messenger
      and chat.from_id = c.external_id and chat.external_id = $4
      and not exists (select from message m where m.chat_id = chat.id and m.external_id = $6)
    returning chat.id, chat.company_id, last_sequence, chat.external_id
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, external_id)
    select $1, now(), now(), company_id, id, last_sequence, 'Customer', 'Text', $5, external_id, 'stored', $6 from place returning *
  ), told as (${toldMessage})
  select id from place`

/** Claims the chat whose delivery is due first, with its oldest queued message: `$1` id of the run. */
export const claimDelivery = `
  with due as (
    select id from chat where delivery_due_at <= now() and delivery_id is null order by delivery_due_at limit 1 for update skip locked
  ), claimed as (
    update chat set delivery_id = $1, delivery_lease_until = now() + interval '15 seconds', delivery_due_at = null
    from due where chat.id = due.id returning chat.*
  )
  select m.id, m.text, claimed.id as chat_id, claimed.external_id, claimed.from_id from claimed
    cross join lateral (select * from message where chat_id = claimed.id and status = 'queued' order by sequence limit 1) m`

/** Records that the channel took a message: `$1` its id, `$2` chat, `$3` run, `$4` its id on the channel. */
export const recordDelivery = `
  with place as (
    update chat set delivery_id = null, delivery_lease_until = null,
      delivery_due_at = case when exists (
        select from message m where m.chat_id = $2 and m.status = 'queued' and m.id <> $1) then now() end
    where id = $2 and delivery_id = $3 returning id
  ), made as (
    update message set status = 'sent', external_id = $4, sent_at = now(), updated_at = now()
    from place where message.id = $1 and message.chat_id = place.id returning message.*
  ), told as (${toldMessage.replace("MESSAGE_CREATED", "MESSAGE_UPDATED")})
  select id from made`

/** The first message of a new visitor: `$1` its id, `$2` id of the chat, `$3` widget, `$4` visitor, `$5` text, `$6` message id, `$7` pause. */
export const firstInbound = `
  with opened as (
    insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, assistant_id, is_under_ai_control,
      unread_count, last_message_at, last_message_id, last_sequence, reply_first_at, reply_due_at)
    select $2::uuid, now(), now(), company_id, 'widget', external_id, $4, assistant_id, assistant_id is not null, 1, now(), $1::uuid, 1, now(),
      now() + $7::float8 * interval '1 ms'
    from channel where id = $3 and messenger = 'widget' and is_active
    returning *
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, external_id)
    select $1, now(), now(), company_id, id, 1, 'Customer', 'Text', $5, external_id, 'stored', $6 from opened returning *
  ), welcomed as (
    insert into event (company_id, chat_id, type, payload, created_at)
    select company_id, id, 'CHAT_CREATED', jsonb_build_object('chat', ${shownChat}), now() from opened
  ), told as (${toldMessage})
  select company_id, (extract(epoch from reply_due_at) * 1000)::float8 as due from opened`

/** Claims a due turn and reads what the model gets: `$1` id of the turn, `$2` the chat, or without it the chat that is due first. */
const claim = (which: string) => `
  with due as (
    select id from chat where reply_due_at <= now() and turn_id is null ${which} for update skip locked
  ), claimed as (
    update chat set turn_id = $1, turn_lease_until = now() + interval '1 minute', turn_first_at = reply_first_at, reply_first_at = null,
      reply_due_at = null, updated_at = now()
    from due where chat.id = due.id returning chat.*
  ), begun as (
    insert into assistant_turn (id, company_id, chat_id, assistant_id, model, started_at)
    select $1, company_id, id, assistant_id, 'stand-in', clock_timestamp() from claimed
  )
  select chat.id, assistant.prompt,
    (select json_agg(json_build_object('role', m.role, 'text', m.text) order by m.sequence) from message m
      where m.chat_id = chat.id and m.sequence > chat.last_sequence - 50 and m.context_id is null) as messages,
    (select json_agg(json_build_object('id', t.id, 'name', t.name, 'description', t.description, 'params', t.params, 'url', t.api_call_url))
      from assistant_tool t where t.assistant_id = assistant.id and not t.disabled) as tools
  from claimed chat join assistant on assistant.id = chat.assistant_id
    join subscription on subscription.company_id = chat.company_id and subscription.status = 'active'`

export const claimOf = claim("and id = $2")
export const claimNext = claim("order by reply_due_at limit 1")

/** Adds a message of the assistant: `$1` its id, `$2` chat, `$3` turn, `$4` text. */
const said = (chat: string, type: string, more: { columns: string; values: string } = { columns: "", values: "" }) => `
  with place as (
    update chat set last_sequence = last_sequence + 1, updated_at = now()${chat}
    where id = $2 and turn_id = $3 and is_under_ai_control and assistant_id is not null
    returning id, company_id, last_sequence, from_id
  ), made as (
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, from_id, status${more.columns})
    select $1, now(), now(), company_id, id, last_sequence, 'Assistant', '${type}', from_id, ${more.values} from place returning *
  ), told as (${toldMessage})`

/** Stores the answer and ends the turn: `$4` the text, `$5` requests to the model, `$6`, `$7` tokens, `$8` the model's time. */
export const conclude = `${said(
  `, last_message_at = now(), last_message_id = $1, turn_id = null, turn_lease_until = null, turn_first_at = null, turn_failures = 0,
      turn_rounds = 0, turn_is_final = false`,
  "Text",
  { columns: ", text, sent_at", values: "'sent', $4, now()" },
)}, ended as (
    update assistant_turn set outcome = 'answered', ended_at = clock_timestamp(), rounds = $5, input_tokens = $6, output_tokens = $7,
      latency_ms = $8
    where id = $3 and exists (select from place)
  )
  select id from made`

/** Logs a call of a tool before it is sent: `$4` id of the call, `$5` tool, `$6` arguments, `$7` frame. */
export const openCall = `${said(", turn_is_final = true, turn_rounds = 1, open_calls = open_calls || to_jsonb($4::text)", "FunctionCall", {
  columns: ", function_call",
  values: "'stored', $7::jsonb",
})}, logged as (
    insert into tool_call (id, company_id, tool_id, chat_id, turn_id, params, created_at)
    select $4::uuid, company_id, $5::uuid, id, $3, $6::jsonb, now() from place
  )
  select id from made`

/** Stores what a call brought: `$4` id of the call, `$5` response, `$6` frame, `$7` milliseconds. */
export const closeCall = `${said(", open_calls = open_calls - $4::text", "FunctionCallOutput", {
  columns: ", function_call_output",
  values: "'stored', $6::jsonb",
})}, logged as (
    update tool_call set status = 'success', success = true, response = $5::jsonb, response_status = 200, latency_ms = $7
    where id = $4::uuid and exists (select from place)
  )
  select id from made`
