import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Chat } from "../entities/chat.js"
import { Subscription } from "../entities/company.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import { setChatTags } from "../entities/kit/system-tools.js"
import type { DueRow } from "../entities/kit/work-state.js"
import { entityLimits } from "../entities/limits.js"
import { resultLost, ToolCall } from "../entities/tool-call.js"
import { isAnswered } from "../messages/inbound.js"
import type { TextModel } from "../ports/text-model.js"
import { assistantLimits } from "./limits.js"
import { asModelMessages, type StoredMessage } from "./memory.js"
import type { HeardMessage } from "./tool-loop.js"
import { Usage } from "./usage.js"

/** A turn that this instance has claimed: what was said in its chat, and its cost so far. */
export interface ClaimedTurn {
  id: string
  chatId: string
  messenger: string
  /** Rounds of tool calls by earlier workers. */
  rounds: number
  assistantId: string
  /** Version of the assistant's configuration. */
  version: string
  /** The unarchived messages of the context window. */
  messages: HeardMessage[]
  /** Sequence of the last message. */
  lastSequence: number
  /** Begin of the context window. */
  since: Date
  now: Date
  /** Whether AI was turned off or on since the model's last turn. */
  hasNotes: boolean
  model: TextModel
  usage: Usage
}

/** The server, as the actor of a change. */
export const system: Actor = { kind: "system", id: null }

interface ClaimedRow {
  id: string
  /** Null when the chat is due, but only a transaction can claim it. */
  turn_id: string | null
  messenger: string
  turn_rounds: number
  last_sequence: number
  assistant_id: string
  version: string
  model_id: string
  since_ms: number
  has_notes: boolean
  messages: StoredMessage[]
}

/**
 * Changes whenever a row changes that `configurationOf()` reads: PostgreSQL gives each version of a row the number of the transaction that
 * wrote it (`xmin`). Nothing has to be counted up when a tool or a knowledge item is written.
 */
const version = `hashtextextended(concat_ws('/', a.xmin::text,
    (select string_agg(t.id::text || t.xmin::text, ',' order by t.id) from assistant_tool t where t.assistant_id = a.id and not t.disabled),
    (select string_agg(k.id::text || k.xmin::text, ',' order by k.id) from knowledge k where k.assistant_id = a.id and not k.is_vector),
    exists (select from knowledge k where k.company_id = a.company_id and k.assistant_id = a.id and k.index_status = 'indexed'),
    case when exists (select from assistant_tool t where t.assistant_id = a.id and t.name = '${setChatTags.name}' and not t.disabled) then (
      select string_agg(tag.name, ',') from (
        select name from chat_tag where company_id = a.company_id order by name limit ${assistantLimits.suggestedTags}) tag) end), 0)::text`

/** `$1` IDs of the chats, `$2` their companies, `$3` IDs of the turns, `$4` now, `$5` window in ms, `$6` and `$7` IDs and names of the models. */
const wanted = "with wanted as (select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as each (chat_id, company_id, turn_id))"

/** Stores the turns of the chats in `claimed`, and reads what they need. */
const begun = `
  , assistants as (
    select a.id, ${version} as version, model.id as model_id, model.name as model_name
    from assistant a cross join lateral (
      select * from unnest($6::uuid[], $7::text[]) with ordinality as configured (id, name, place)
      where configured.id = a.text_model_id or place = 1 order by place desc limit 1
    ) model
    where a.id in (select assistant_id from claimed)
  ), turns as (
    insert into assistant_turn (id, company_id, chat_id, assistant_id, model, started_at)
    select turn_id, claimed.company_id, claimed.id, assistant_id, model_name, $4 from claimed join assistants on assistants.id = assistant_id
  ), found as (
    select claimed.id, turn_id, messenger, turn_rounds, last_sequence, assistant_id, version, model_id, (extract(epoch from since.at) * 1000)::float8 as since_ms,
      exists (
        select from control_change c where c.chat_id = claimed.id and c.created_at >= least(since.at, coalesce((
          select t.started_at from assistant_turn t where t.chat_id = claimed.id and t.outcome in ('answered', 'handed_off')
          order by t.started_at desc limit 1), '-infinity'))
      ) as has_notes,
      (
        select coalesce(json_agg(json_build_array(m.role, m.text, m.function_call, m.function_call_output,
          case when m.role = 'Customer' and m.created_at >= claimed.turn_first_at then m.id end) order by m.sequence), '[]')
        from message m where m.chat_id = claimed.id and m.context_id is null and m.created_at >= since.at
          and m.sequence > claimed.last_sequence - ${assistantLimits.contextMessages}
      ) as messages
    from claimed join assistants on assistants.id = claimed.assistant_id
    cross join lateral (select least($4::timestamptz - $5::float8 * interval '1 millisecond', claimed.turn_first_at) as at) since
  )`

const columns = "company_id, messenger, assistant_id, turn_rounds, turn_first_at, last_sequence"
const ofClaimed = columns.split(", ").map((column) => `chat.${column}`)

/** Begins the turn of a chat that a transaction has changed already. */
const begin: Statement<ClaimedRow> = {
  name: "begin-turn",
  text: `${wanted}, claimed as (
    select chat.id, wanted.turn_id, ${ofClaimed} from chat join wanted on chat.id = wanted.chat_id and chat.company_id = wanted.company_id
  )${begun} select * from found`,
}

const isDue = "case when due.turn_id is null then due.reply_due_at else due.turn_lease_until end <= $4"

/**
 * `WorkState.isDue()`, `begin()` and `Chat.beginTurn()` in SQL for many chats, where a claim has no other effects; a test compares them. A chat
 * that changed between the statement's snapshot and its lock (`seen`) is left to a transaction, because its newest message would not be read.
 */
const claim: Statement<ClaimedRow> = {
  name: "claim-turns",
  text: `${wanted}, target as (
    select chat.id, wanted.turn_id from chat
    join wanted on chat.id = wanted.chat_id and chat.company_id = wanted.company_id
    join chat seen on seen.id = chat.id and seen.last_sequence = chat.last_sequence and seen.updated_at = chat.updated_at
    where chat.turn_id is null and chat.reply_due_at <= $4 and chat.turn_first_at is null and chat.open_calls = '[]' and ${isAnswered}
      and exists (
        select from subscription s where s.company_id = chat.company_id and s.status in ('active', 'trialing') and (s.ends_at is null or s.ends_at > $4)
      )
    for no key update of chat skip locked
  ), claimed as (
    update chat set turn_id = target.turn_id, reply_due_at = null, turn_lease_until = $8, turn_first_at = coalesce(chat.reply_first_at, $4),
      reply_first_at = null, updated_at = $4
    from target where chat.id = target.id returning chat.id, chat.turn_id, ${ofClaimed}
  )${begun}
  select found.*, due.id
  from wanted join chat due on due.id = wanted.chat_id and due.company_id = wanted.company_id left join found on found.id = due.id
  where found.id is not null or ${isDue}`,
}

/** Claims due chats by one statement; returns the turns by their IDs, and the chats that are due and need a transaction. */
export async function claimTurns(services: Services, due: DueRow[]): Promise<{ claimed: Map<string, ClaimedTurn>; left: Set<string> }> {
  const now = clock.now()
  const leaseUntil = new Date(now.getTime() + entityLimits.turnLeaseMs)
  const rows = await unscoped(services.database, claim, [...valuesOf(services, due, now), leaseUntil])
  const claimed = rows.filter((row) => row.turn_id !== null)
  return {
    claimed: new Map(claimed.map((row) => [row.turn_id!, turnOf(services, row, now)])),
    left: new Set(rows.filter((row) => row.turn_id === null).map((row) => row.id)),
  }
}

/** Claims a turn in a transaction: ends open calls of an earlier worker, and reads the chat; null when no answer is needed. */
export async function beginTurn(tx: RequestContext, chat: Chat, id: string): Promise<ClaimedTurn | null> {
  const now = clock.now()
  await endLostCalls(tx.unit, chat.abortTurn("lost"))
  const subscription = await tx.em.findOne(Subscription, { companyId: chat.companyId })
  if (!subscription?.isActiveAt(now)) {
    chat.turnAiOff("auto", system)
    return null
  }
  if (!chat.isAnsweredByAi) {
    chat.cancelReply()
    return null
  }
  chat.beginTurn(now)
  // The outputs of lost calls are written before the chat is read.
  await tx.unit.flush()
  const due = { id: chat.id, companyId: chat.companyId, runId: id }
  const [row] = await tx.run(begin, valuesOf(tx.services, [due], now))
  return turnOf(tx.services, row!, now)
}

/** Ends calls that were running when their worker was lost, because their results will never be known (contract, section 6). */
async function endLostCalls(unit: UnitOfWork, callIds: string[]): Promise<void> {
  if (callIds.length === 0) return
  for (const call of await unit.em.find(ToolCall, { id: { $in: callIds } })) call.endUnknown(resultLost)
}

function valuesOf({ models, config }: Services, due: DueRow[], now: Date): unknown[] {
  const chats = [due.map(({ id }) => id), due.map(({ companyId }) => companyId), due.map(({ runId }) => runId)]
  // The default model, the first, replaces one that is no longer configured.
  return [...chats, now, config.contextWindowMs, models.map(({ id }) => id), models.map(({ name }) => name)]
}

const turnOf = ({ models }: Services, row: ClaimedRow, now: Date): ClaimedTurn => ({
  id: row.turn_id!,
  chatId: row.id,
  messenger: row.messenger,
  rounds: row.turn_rounds,
  assistantId: row.assistant_id,
  version: row.version,
  messages: asModelMessages(row.messages),
  lastSequence: row.last_sequence,
  since: new Date(row.since_ms),
  now,
  hasNotes: row.has_notes,
  model: models.find(({ id }) => id === row.model_id)!,
  usage: new Usage(),
})
