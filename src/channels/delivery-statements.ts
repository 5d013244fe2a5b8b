import type { MikroORM } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { columnsOf } from "../database/read-model.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { type Messenger, messengers } from "../entities/channel.js"
import { deliverJob } from "../entities/kit/chat-jobs.js"
import { clock } from "../entities/kit/clock.js"
import type { DueRow } from "../entities/kit/work-state.js"
import type { MessageRole } from "../entities/message.js"
import { oncePer } from "../once-per.js"
import { accountOf } from "./account.js"
import type { Delivery } from "./delivery.js"
import { channelLimits } from "./limits.js"

interface ClaimedRow {
  id: string
  company_id: string
  /** Null when the chat is due, but only a transaction can claim it. */
  run_id: string | null
  message_id: string
  messenger: Messenger
  text: string | null
  role: MessageRole
  author_id: string | null
  queued_at_ms: number
  external_id: string
  chat_type: string
  channel_id: string
  account_id: string
  name: string
  credentials: string | null
  has_problem: boolean
  is_marked: boolean
  customer_wrote_ms: number | null
}

/**
 * `beginDelivery()` in SQL for the first attempt of plain texts, of many chats; `$1` IDs of the chats, `$2` their companies, `$3` IDs of the runs,
 * `$4` now, `$5` end of the leases, `$6` messengers whose requests need nothing of earlier messages, `$7` those without a rate, whose request
 * leaves at once: the claim marks it. A chat that changed between the statement's snapshot and its lock (`seen`) is left to a transaction,
 * because a message that a take-over has cancelled meanwhile would be read as queued. So is one whose message was sent since the snapshot, which
 * has a state already.
 */
const claim: Statement<ClaimedRow> = {
  name: "claim-deliveries",
  text: `
    with wanted as (select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as each (chat_id, company_id, run_id)), target as (
      select chat.*, wanted.run_id from chat
      join wanted on chat.id = wanted.chat_id and chat.company_id = wanted.company_id
      join chat seen on seen.id = chat.id and seen.updated_at = chat.updated_at and seen.last_sequence = chat.last_sequence
      where chat.delivery_id is null and chat.delivery_due_at <= $4 and chat.external_id is not null and chat.messenger = any($6::text[])
      for no key update of chat skip locked
    ), plain as (
      select t.id, t.company_id, t.run_id, t.messenger, t.external_id, t.chat_type, m.id as message_id, m.text, m.role, m.author_id, m.created_at,
        h.id as channel_id, h.external_id as account_id, h.name, h.credentials, h.problem is not null as has_problem,
        t.messenger = any($7::text[]) as is_marked, (
          select extract(epoch from c.created_at) * 1000 from message c where c.chat_id = t.id and c.role = 'Customer' order by c.sequence desc limit 1
        )::float8 as customer_wrote_ms
      from target t
      cross join lateral (
        select * from message m where m.chat_id = t.id and m.company_id = t.company_id and m.status = 'queued' order by m.sequence limit 1
      ) m
      join channel h on h.company_id = t.company_id and h.messenger = t.messenger and h.external_id = t.from_id and h.is_active
      where m.type = 'Text' and m.reply_to_message_id is null and not exists (select from channel_message s where s.message_id = m.id)
    ), states as (
      insert into channel_message (id, created_at, updated_at, company_id, chat_id, message_id, queued_at, answers, sending_since)
      select gen_random_uuid(), $4, $4, company_id, id, message_id, created_at, '{"quoted":null,"last":null}', case when is_marked then $4::timestamptz end
      from plain on conflict do nothing returning message_id
    ), claimed as (
      select plain.* from plain join states using (message_id)
    ), marked as (
      update chat set delivery_id = claimed.run_id, delivery_due_at = null, delivery_lease_until = $5 from claimed where chat.id = claimed.id
    )
    select claimed.*, (extract(epoch from claimed.created_at) * 1000)::float8 as queued_at_ms, due.id
    from wanted join chat due on due.id = wanted.chat_id and due.company_id = wanted.company_id left join claimed on claimed.id = due.id
    where claimed.id is not null or case when due.delivery_id is null then due.delivery_due_at else due.delivery_lease_until end <= $4`,
}

/** Claims due chats by one statement; returns the deliveries by the IDs of their runs, and the chats that are due and need a transaction. */
export async function claimDeliveries(services: Services, due: DueRow[]): Promise<{ claimed: Map<string, Delivery>; left: Set<string> }> {
  const now = clock.now()
  const leaseUntil = new Date(now.getTime() + channelLimits.deliveryLeaseMs)
  const ids = [due.map(({ id }) => id), due.map(({ companyId }) => companyId), due.map(({ runId }) => runId)]
  const rows = await unscoped(services.database, claim, [...ids, now, leaseUntil, plainMessengers(services), unpaced(services)])
  const claimed = rows.filter((row) => row.run_id !== null)
  return {
    claimed: new Map(claimed.map((row) => [row.run_id!, deliveryOf(services, row, now)])),
    left: new Set(rows.filter((row) => row.run_id === null).map(({ id }) => id)),
  }
}

/** Mail answers the last message of its thread; other requests need nothing of earlier messages. */
const plainMessengers = oncePer(({ channels }: Services) =>
  messengers.filter((each) => {
    const adapter = channels.adapter(each)
    return adapter && (!adapter.capabilities.together || adapter.hasOwnIds)
  }),
)

const unpaced = oncePer((services: Services) => plainMessengers(services).filter((each) => !services.channels.capabilities(each).perSecond))

function deliveryOf({ secrets }: Services, row: ClaimedRow, now: Date): Delivery {
  const { channel_id: id, company_id: companyId, account_id: externalId, name, credentials } = row
  return {
    chatId: row.id,
    runId: row.run_id!,
    messageId: row.message_id,
    messenger: row.messenger,
    account: accountOf({ id, companyId, externalId, name, credentials }, secrets),
    hasProblem: row.has_problem,
    content: { text: row.text, files: [], template: null, choices: null },
    address: {
      chat: { externalId: row.external_id, isGroup: row.chat_type === "group" },
      quoted: null,
      last: null,
      isByPerson: row.role === "User" && row.author_id !== null,
      isByAssistant: row.role === "Assistant",
      customerWroteAt: row.customer_wrote_ms === null ? null : new Date(row.customer_wrote_ms),
    },
    isMarked: row.is_marked,
    state: { accepted: [], sendingSince: row.is_marked ? now : null, failures: 0, mayBeTwice: false, queuedAt: new Date(row.queued_at_ms) },
  }
}

/**
 * `storeSent()` in SQL for a plain text that was sent as one part at the first attempt: the message, its event, and the next message of the
 * chat is due. No row, and nothing is written, when the delivery was taken away, or its result has other effects. Chat and companies are said
 * twice: without the second time PostgreSQL, whose statistics often know of no queued message, reads all queued messages of all chats.
 */
export const storeStatement = oncePer((orm: MikroORM): Statement<{ due: boolean; company_id: string; id: string }> => {
  const shown = [...columnsOf(orm, "Message").of].map(([property, column]) => `${column} as "${property}"`).join(", ")
  return {
    name: "store-sent-message",
    text: `
      with lane as (
        select id, company_id from chat where id = $1 and company_id = any($2::uuid[]) and delivery_id = $3 for no key update
      ), sent as (
        update message m set status = 'sent', external_id = $5, sent_at = $6, updated_at = $6 from lane
        where m.id = $4::uuid and m.chat_id = lane.id and m.company_id = lane.company_id and m.status = 'queued' and m.external_id is null
          and m.chat_id = $1 and m.company_id = any($2::uuid[])
          and ($5::text is null or not exists (select from message o where o.chat_id = lane.id and o.external_id = $5)
            and not exists (select from message_part p where p.chat_id = lane.id and p.external_id = $5))
          and not exists (select from channel_item i where i.channel_id = $7 and i.company_id = lane.company_id and i.state = 'early'
            and i.external_id in ($5::text, $4::uuid::text))
        returning m.*
      ), state as (
        update channel_message s set accepted = jsonb_build_array($5::text), sending_since = null, updated_at = $6
        from sent where s.message_id = sent.id and s.company_id = sent.company_id
      ), freed as (
        update chat set delivery_id = null, delivery_lease_until = null, delivery_failures = 0, delivery_due_at = case when exists (
            select from message q where q.chat_id = chat.id and q.company_id = chat.company_id and q.status = 'queued' and q.id <> $4::uuid
          ) then $6 else delivery_due_at end
        from sent where chat.id = sent.chat_id returning chat.id, chat.company_id, delivery_due_at is not null as due
      ), shown as (select ${shown} from sent), recorded as (
        insert into event (company_id, chat_id, type, payload, created_at)
        select "companyId", "chatId", 'MESSAGE_UPDATED',
          jsonb_build_object('message', to_jsonb(shown) || '{"replyTo": null, "mediaIds": [], "messageMedia": []}'), $6
        from shown
      )
      select id, company_id, due from freed`,
    jobs: ({ due, id, company_id: companyId }) => (due ? [{ job: deliverJob, companyId, id, at: clock.now() }] : []),
  }
})

/** Stores that a message was sent, and ends the delivery, by one statement; false, and nothing is stored, when that has other effects. */
export async function storeSentAtOnce(context: RequestContext, delivery: Delivery): Promise<boolean> {
  const { chatId, runId, messageId, account, state, hasProblem, data, content, address } = delivery
  const isPlain = state.accepted.length === 1 && state.failures === 0 && !state.mayBeTwice && !hasProblem && data === undefined
  if (!isPlain || content.files.length > 0 || content.template || content.choices || address.quoted) return false
  const values = [chatId, context.companyIds, runId, messageId, state.accepted[0], clock.now(), account.connectionId]
  return (await context.statement(storeStatement(context.services.database.orm), values)).length > 0
}
