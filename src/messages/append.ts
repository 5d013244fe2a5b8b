import type { MikroORM } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { columnsOf, type PlannedRow } from "../database/read-model.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { deliveredByEvent } from "../entities/channel.js"
import { deliverJob } from "../entities/kit/chat-jobs.js"
import { clock } from "../entities/kit/clock.js"
import type { ScheduledJob } from "../entities/kit/row.js"
import type { FunctionCall, FunctionCallOutput } from "../entities/kit/tool-frames.js"
import type { MessageRole, MessageSender, MessageSource, MessageType } from "../entities/message.js"
import { oncePer } from "../once-per.js"
import { undeliverable } from "./undeliverable.js"

/** A message that is to be appended to a chat. */
export interface MessageDraft {
  id?: string
  chatId: string
  role: MessageRole
  type: MessageType
  text?: string | null
  authorId?: string | null
  externalId?: string | null
  /** IDs of uploaded files of the chat's company, in their order; their rows must be locked. */
  mediaIds?: string[]
  /** The quoted message as a row, because the event contains it. */
  replyTo?: { id: string } | null
  sources?: MessageSource[]
  functionCall?: FunctionCall | null
  functionCallOutput?: FunctionCallOutput | null
  /** The member of a group who wrote it. */
  sender?: MessageSender | null
  /** The status, of a message that a person sent in the vendor's own app; otherwise it follows from role and channel. */
  status?: "sent"
}

type Append = Statement<{ message: PlannedRow<"Message"> }>

/** The delivery to schedule after a message was appended. */
export const deliveryOf = ({ message }: { message: PlannedRow<"Message"> }): ScheduledJob[] =>
  message.status === "queued" ? [{ job: deliverJob, companyId: message.companyId!, id: message.chatId!, at: clock.now() }] : []

/** SQL in which a variant of the statement differs. */
export interface AppendParts {
  /** Inserts the chat under the name `numbered`, up to `returning`, instead of changing it; and writes the event of that as `opened`. */
  opens?: { chat: string; event: string }
  /** The ID of the chat; `$3` when absent. */
  chatId?: string
  /** Further columns of the chat that are set, each preceded by a comma. */
  set?: string
  /** Further conditions on the chat, each preceded by `and`; no row is returned, and nothing is written, when one is false. */
  where?: string
  /** A further column of the result, from the changed chat. */
  result?: { name: string; sql: string }
  /** CTEs that come first, each followed by a comma. */
  before?: string
  /** A CTE that may read `numbered`, the changed chat. */
  also?: string
  /** Inserts the files; with SQL expressions that return them for the event. */
  files?: { insert: string; mediaIds: string; messageMedia: string }
}

/** Fields of a file that an event stores; its URL is signed when the event is delivered. */
const mediaFields = ["id", "companyId", "filename", "mimeType", "size", "status", "createdAt", "updatedAt"]

/**
 * The only statement that adds a message to a chat: it locks the chat's row and takes the next sequence number, inserts the message, updates
 * the chat's recency and unread count, queues or fails its delivery, and writes the event. Returns the message as the event shows it; no row
 * for an inaccessible chat.
 */
export function appendStatement(orm: MikroORM): Append {
  return statementsOf(orm).plain
}

const statementsOf = oncePer((orm: MikroORM): Record<"plain" | "withMedia", Append> => {
  const of = columnsOf(orm, "Media").of
  const media = mediaFields.map((property) => `'${property}', m.${of.get(property)}`).join(", ")
  // Messages with files have their own statement, so that other messages do not pay for it.
  const attached = `, attached as (
      insert into message_media (id, company_id, message_id, media_id, position)
      select link.id, inserted.company_id, inserted.id, link.media_id, link.position
      from inserted, unnest($20::uuid[], $21::uuid[]) with ordinality as link (id, media_id, position)
      returning id, media_id, company_id, position
    ), files as (
      select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'mediaId', m.id, 'media', jsonb_build_object(${media})) order by a.position), '[]') as list
      from attached a join media m on m.id = a.media_id and m.company_id = a.company_id
    )`
  return {
    plain: { name: "append-message", text: appendSql(orm), jobs: deliveryOf },
    withMedia: {
      name: "append-message-with-media",
      jobs: deliveryOf,
      text: appendSql(orm, { files: { insert: attached, mediaIds: "to_jsonb($21::uuid[])", messageMedia: "(select list from files)" } }),
    },
  }
})

/** Whether the message is to be sent by its channel. */
const isForChannel = "($7 in ('User', 'Assistant') and $4 and not $19 and chat.messenger <> all($8::text[]))"

/** Whether the company has an active connection for the chat. Not `exists`, for which PostgreSQL may read the connections of all companies. */
const isConnected = `coalesce((
        select h.is_active from channel h
        where h.company_id = chat.company_id and h.messenger = chat.messenger and h.external_id = chat.from_id
      ), false)`

/**
 * Whether the message waits for its delivery. One that cannot be delivered fails in the statement that stores it, because a delivery, which
 * would only find no connection, costs more than the statement. When a connection begins or ends at the same time, either outcome is right: the
 * delivery of a message fails it when the connection has ended since.
 */
const isQueued = `(${isForChannel} and chat.external_id is not null and ${isConnected})`

/** The status of the message, in the statement that changes its chat. */
const status = `case when ${isQueued} then 'queued' when ${isForChannel} then 'failed'
          when $7 in ('User', 'Assistant') and $4 then 'sent' else 'stored' end`

/** Why a message that fails when it is stored is not delivered, in SQL. */
const reason = `case when ${isForChannel} then
          case when chat.external_id is null and ${isConnected} then '${undeliverable.noCustomer}'
          else format('${undeliverable.noConnection("%s", "%s")}', chat.messenger, chat.from_id) end
        end`

const noFiles = { insert: "", mediaIds: "'[]'::jsonb", messageMedia: "'[]'::jsonb" }

/** The text of the statement, whose parameters are those of `appendValues()`, and from $20 on those of its parts. */
export function appendSql(orm: MikroORM, parts: AppendParts = {}): string {
  const { opens, chatId = "$3", set = "", where = "", result, before = "", also, files = noFiles } = parts
  const shown = [...columnsOf(orm, "Message").of].map(([property, column]) => `${column} as "${property}"`).join(", ")
  const changed = `numbered as (
      update chat set
        last_sequence = last_sequence + 1,
        updated_at = $1,
        last_message_at = case when $4 then greatest(last_message_at, $1) else last_message_at end,
        last_message_id = case when $4 then $2 else last_message_id end,
        unread_count = unread_count + $5,
        is_attended = is_attended or ($7 = 'User' and $4 and not is_under_ai_control and ai_disable_reason is not distinct from 'auto'),
        quiet_since = case when quiet_since is not null then greatest(quiet_since, $1) end,
        delivery_due_at = case when ${isQueued} then coalesce(delivery_due_at, $1) else delivery_due_at end${set}
      where id = ${chatId} and company_id = any($6::uuid[])${where}`
  return `
    with ${before}${opens?.chat ?? changed}
      returning id, company_id, last_sequence, messenger, case when $7 = 'Customer' then external_id else from_id end as from_id,
        ${status} as status, ${reason} as reason${result ? `, ${result.sql} as ${result.name}` : ""}
    ), inserted as (
      insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at,
        delivery_error, delivery_error_code,
        external_id, author_id, reply_to_message_id, sources, function_call, function_call_output, sender)
      select $2, $1, $1, company_id, id, last_sequence, $7, $9, $10, from_id, status, case when status = 'sent' then $1::timestamptz end,
        case when status = 'failed' then reason end, case when status = 'failed' then 'NOT_CONNECTED' end,
        $11, $12::uuid, $13::uuid, $14::jsonb, $15::jsonb, $16::jsonb, $18::jsonb
      from numbered returning *
    ), shown as (
      select ${shown} from inserted
    )${files.insert}${opens?.event ?? ""}, recorded as (
      insert into event (company_id, chat_id, type, payload, created_at)
      select "companyId", "chatId", 'MESSAGE_CREATED',
        jsonb_build_object('message', to_jsonb(shown) || jsonb_build_object('replyTo', $17::jsonb, 'mediaIds', ${files.mediaIds}, 'messageMedia', ${files.messageMedia})), $1
      from shown${opens ? ", opened" : ""} returning payload -> 'message' as message
    )${also ? `, ${also}` : ""}
    select message${result ? `, (select ${result.name} from numbered)` : ""} from recorded`
}

const frames: MessageType[] = ["FunctionCall", "FunctionCallOutput"]

/** Appends a message in a unit of work and returns its row. */
export async function append(unit: UnitOfWork, draft: MessageDraft): Promise<PlannedRow<"Message">> {
  const values = appendValues(draft, unit.scope.companyIds, clock.now())
  const { plain, withMedia } = statementsOf(unit.database.orm)
  const ids = draft.mediaIds ?? []
  const [row] = await (ids.length === 0 ? unit.run(plain, values) : unit.run(withMedia, [...values, ids.map(() => v7()), ids]))
  unit.wroteEvents()
  return row!.message
}

/** The parameters of the statement for a draft; without the chat's ID where the statement finds the chat. */
export function appendValues(draft: Omit<MessageDraft, "chatId"> & { chatId: string | null }, companyIds: string[], now: Date): unknown[] {
  const isConversation = draft.role !== "System" && !frames.includes(draft.type)
  return [
    now,
    draft.id ?? v7(),
    draft.chatId,
    isConversation,
    draft.role === "Customer" ? 1 : 0,
    companyIds,
    draft.role,
    deliveredByEvent,
    draft.type,
    draft.text ?? null,
    draft.externalId ?? null,
    draft.authorId ?? null,
    draft.replyTo?.id ?? null,
    JSON.stringify(draft.sources ?? []),
    json(draft.functionCall),
    json(draft.functionCallOutput),
    json(draft.replyTo),
    json(draft.sender),
    draft.status === "sent",
  ]
}

const json = (value: unknown) => (value == null ? null : JSON.stringify(value))
