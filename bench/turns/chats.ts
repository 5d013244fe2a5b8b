import { v7 } from "uuid"
import { sign } from "../../src/context/json-web-token.js"
import type { Deployment } from "./deployment.js"
import { customerName, type HookMessenger, type HookRequest } from "./hook-request.js"
import type { Side } from "./sides.js"
import { question, tagOf } from "./words.js"

/** A batch of chats, spread evenly over the companies. */
export interface ChatOptions {
  count: number
  /** Who answers; without an assistant AI is off. */
  answeredBy: "assistant" | "toolAssistant" | "mcpAssistant" | null
  /** When the reply to the last message is due; null when the last message is the assistant's. */
  dueAt: Date | null
  /** The channel of the chats; the widget when absent. */
  over?: HookMessenger
  /** When a person's message that is queued in each chat is to be delivered; none when absent. */
  deliverAt?: Date
}

/** A chat of a batch: its company's connection, and the tag of its question. */
export interface BenchChat {
  id: string
  companyId: string
  messenger: HookMessenger
  connectionId: string
  externalId: string
  tag: string
}

let batches = 0

/**
 * Chats of known visitors, new for each measurement, so that none has a longer memory than another: a greeting and its answer, and with a due
 * time a question, as the inbound path would have stored them. Rows only: their events were told long ago.
 */
export async function createChats({ client, companies }: Pick<Side, "client" | "companies">, options: ChatOptions): Promise<BenchChat[]> {
  const { count, answeredBy, dueAt, over = "widget", deliverAt = null } = options
  const batch = ++batches
  const rows = Array.from({ length: count }, (_, place) => {
    const company = companies[place % companies.length]!
    const assistantId = answeredBy && company[`${answeredBy}Id`]
    const tag = tagOf(batch, place)
    const site = over !== "widget" ? over : answeredBy ? "site" : "silent"
    const connectionId = over !== "widget" ? company.connectionIds[over] : answeredBy ? company.widgetId : company.silentWidgetId
    // Telegram's IDs are numbers.
    const externalId = over === "telegram-bot" ? String(batch * 1_000_000 + place) : `visitor:${tag}`
    const name = over === "widget" ? null : customerName
    const named = { site, messenger: over, connectionId, externalId, name }
    return { id: v7(), lastId: v7(), companyId: company.id, assistantId, tag, ...named, text: question(tag) }
  })
  await client.query("set synchronous_commit = off")
  await client.query(storing, [JSON.stringify(rows), dueAt || deliverAt ? 3 : 2, dueAt, deliverAt])
  return rows
}

const storing = `
  with planned as (
    select * from jsonb_to_recordset($1::jsonb)
      as row (id uuid, "lastId" uuid, "companyId" uuid, "assistantId" uuid, tag text, site text, messenger text, "externalId" text,
        name text, text text)
  ), chats as (
    insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, assistant_id, is_under_ai_control,
      unread_count, last_message_at, last_message_id, last_sequence, reply_first_at, reply_due_at, delivery_due_at)
    select id, now(), now(), "companyId", messenger, site, "externalId", name, "assistantId", "assistantId" is not null,
      1, now(), "lastId", $2, case when $3::timestamptz is not null then now() end, $3, $4::timestamptz
    from planned
  )
  insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at, external_id)
  select case when place = $2 then "lastId" else uuidv7() end, now(), now(), "companyId", id, place,
    case when place = 2 then 'Assistant' when place = 3 and $4::timestamptz is not null then 'User' else 'Customer' end, 'Text',
    case place when 1 then 'Good afternoon!' when 2 then 'Good afternoon, how can I help you?' else text end,
    case when place = 1 or place = 3 and $4::timestamptz is null then "externalId" else site end,
    case when place = 2 then 'sent' when place = 3 and $4::timestamptz is not null then 'queued' else 'stored' end,
    case place when 2 then now() end, case when place = 1 or place = 3 and $4::timestamptz is null then tag || ':' || place end
  from planned, generate_series(1, $2) place`

/** The request with which the customer of a chat asks the question. */
export const questionOf = (
  { jwtSecret }: Deployment,
  { id, companyId, messenger, connectionId, externalId, tag }: BenchChat,
): HookRequest => ({
  path: `/hooks/${messenger}/${connectionId}`,
  text: question(tag),
  visitorToken: messenger === "widget" ? sign({ typ: "visitor", sub: id, cid: companyId }, jwtSecret, 24 * 60 * 60, new Date()) : null,
  customer: messenger === "widget" ? null : externalId,
})
