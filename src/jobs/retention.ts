import { NIL, v7 } from "uuid"
import { forgetRest, forgetRestOfDeliveries } from "../chats/forget.js"
import { contextLimits } from "../context/limits.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { rootLimits } from "../limits.js"
import { forgetMedia } from "./forget-media.js"
import type { Sweep } from "./kit/scheduler.js"
import { unhurried } from "./kit/unhurried.js"
import { jobLimits } from "./limits.js"

/** Deletes old events, but none that the reader which makes deliveries of events has not read; it reads nothing while there is no endpoint. */
const clearEvents: Statement<{ count: number }> = {
  name: "clear-events",
  text: `
    with reader as (
      select case when starts.position is not null then greatest(f.position, starts.position) end as position
      from event_fan_out f, (select min(from_position) as position from event_webhook where not disabled) starts where f.id = 1
    ), oldest as (
      select e.id from event e, reader where e.position is not null and (reader.position is null or e.position <= reader.position)
      order by e.position limit $2
    ), deleted as (
      delete from event where id in (select id from oldest) and created_at < $1 returning position
    ), log as (
      update event_log set cleared_to = greatest(cleared_to, (select max(position) from deleted)) where id = 1 returning 1
    )
    select count(*)::integer as count from deleted`,
}

/** Rows of a table that are older than `$1` by a column, at most `$2`; those that are locked are left to a later run. */
const old = (table: string, column: string) =>
  `select id from ${table} where ${column} < $1 order by ${column} limit $2 for update skip locked`

const clearIdempotencyKeys: Statement = {
  name: "clear-idempotency-keys",
  text: `delete from idempotency_key where id in (${old("idempotency_key", "created_at")}) returning 1`,
}

const clearRefreshTokens: Statement = {
  name: "clear-refresh-tokens",
  text: `delete from refresh_token where id in (${old("refresh_token", "expires_at")}) returning 1`,
}

const clearChannelItems: Statement = {
  name: "clear-channel-items",
  text: `delete from channel_item where id in (${old("channel_item", "expires_at")}) returning 1`,
}

const clearEventDeliveries: Statement = {
  name: "clear-event-deliveries",
  text: `delete from event_delivery where id in (${old("event_delivery", "created_at")}) returning 1`,
}

const clearAuditEntries: Statement = {
  name: "clear-audit-entries",
  text: `delete from audit_entry where id in (${old("audit_entry", "created_at")}) returning 1`,
}

/** Deletes reports about calls that never became known. */
const clearCallReports: Statement = {
  name: "clear-call-reports",
  text: `delete from call_report where id in (${old("call_report", "expires_at")}) returning 1`,
}

/** Deletes sessions whose last tokens have expired: `$1` when the youngest of them began. IDs sort by time (UUID v7). */
const clearSessions = {
  name: "clear-sessions",
  text: `delete from session where id in (
    select s.id from session s where s.id < $1 and s.created_at < $2 and not exists (select from refresh_token r where r.session_id = s.id)
    order by s.id limit $3 for update of s skip locked
  ) returning 1`,
}

/** Deletes positions that every replica that is read has reached long ago, by the clock of the database, which stored their times. */
const clearWritePositions: Statement = {
  name: "clear-write-positions",
  text: `delete from write_position where key in (
    select key from write_position where written_at < now() - make_interval(secs => $1) order by written_at limit $2 for update skip locked
  ) returning 1`,
}

const clearTurns = {
  name: "clear-turns",
  text: `delete from assistant_turn where id in (
    select id from assistant_turn where started_at < $1 order by started_at limit $2
  ) returning 1`,
}

const companiesWithDueMedia: Statement<RowOf<"Media", "company_id">> = {
  name: "companies-with-due-media",
  text: "select distinct company_id from media where forget_at <= $1",
}

/**
 * Deletes old messages from the beginning of their chats. IDs sort by time (UUID v7), so the primary key finds the oldest: a further index would
 * cost every new message. A chat with a due reply or a running turn, which may read them, and one that is locked, is left to a later run.
 */
const clearMessages: Statement<{ seen: number; last: string | null }> = {
  name: "clear-messages",
  text: `
    with old as (
      select id, chat_id, sequence from message where id > $1 and id < $2 and created_at < $3 order by id limit $4
    ), upto as (
      select chat_id, max(sequence) as sequence from old where chat_id is not null group by chat_id
    ), idle as (
      select c.id, c.last_read_sequence, upto.sequence from chat c join upto on upto.chat_id = c.id
      where c.reply_due_at is null and c.turn_id is null for no key update of c skip locked
    ), deleted as (
      delete from message m using idle where m.chat_id = idle.id and m.sequence <= idle.sequence
      returning m.chat_id, m.role = 'Customer' and m.sequence > idle.last_read_sequence as is_unread
    ), without_chat as (
      delete from message where id in (select id from old where chat_id is null)
    ), counted as (
      update chat set unread_count = unread_count - unread.count
      from (select chat_id, count(*) as count from deleted where is_unread group by chat_id) unread where chat.id = unread.chat_id
    )
    select count(*)::integer as seen, (array_agg(id order by id desc))[1] as last from old`,
}

/** Deletes the bodies of old tool calls; the entries of the log stay, and their tallies. */
const clearToolBodies = {
  name: "clear-tool-bodies",
  text: `update tool_call set params = '{}', response = null where id in (
    select id from tool_call where created_at < $1 and (params <> '{}' or response is not null) order by created_at limit $2
    for no key update skip locked
  ) returning 1`,
}

/** Deletes questions that are as old as the messages or the bodies of the tool calls that are deleted. */
const clearQuestions = {
  name: "clear-questions",
  text: `delete from asked_question where id in (${old("asked_question", "asked_at")}) returning 1`,
}

/** Deletes groups that have lost their questions. */
const clearQuestionGroups = {
  name: "clear-question-groups",
  text: `delete from question_group where id in (
    select g.id from question_group g where not exists (select from asked_question q where q.company_id = g.company_id and q.group_id = g.id)
    limit $1 for update of g skip locked
  ) returning 1`,
}

/** Deletes the excerpts of old hits, which are parts of messages; the hits stay. */
const clearGuardrailExcerpts = {
  name: "clear-guardrail-excerpts",
  text: `update guardrail_hit set excerpt = null where id in (
    select id from guardrail_hit where created_at < $1 and excerpt is not null order by created_at limit $2 for no key update skip locked
  ) returning 1`,
}

/** Takes old recordings from their calls; their files are removed like any other that is not used. */
const clearRecordings = {
  name: "clear-recordings",
  text: `with old as (
      select id, recording_id from call where recording_id is not null and ended_at < $1 limit $2 for update skip locked
    ), unused as (
      update media set forget_at = $3 from old where media.id = old.recording_id
    )
    update call set recording_id = null from old where call.id = old.id returning 1`,
}

type Deleting = Pick<Services, "database" | "stopping">

/** Repeats a statement, each time as its own transaction, until it finds less than a batch; its last parameter is the size of a batch. */
async function inBatches(
  { database, stopping }: Deleting,
  statement: Statement,
  values: unknown[],
  size: number = jobLimits.retentionBatch,
) {
  while (!stopping.aborted && (await unhurried(() => unscoped(database, statement, [...values, size]))).length === size);
}

/** The lowest ID that a row of this time can have. */
const firstId = (time: Date) => v7({ msecs: time.getTime(), seq: 0, random: new Uint8Array(16) })

async function clearOldMessages({ database, stopping }: Deleting, before: Date) {
  const { messageRetentionBatch } = jobLimits
  const end = firstId(before)
  for (let after: string | null = NIL; after && !stopping.aborted; ) {
    const values: unknown[] = [after, end, before, messageRetentionBatch]
    const [row]: { seen: number; last: string | null }[] = await unhurried(() => unscoped(database, clearMessages, values))
    after = row!.seen === messageRetentionBatch ? row!.last : null
  }
}

async function clearOldRecordings({ database, stopping }: Deleting, before: Date, now: Date) {
  const { mediaBatch } = jobLimits
  while (
    !stopping.aborted &&
    (await unhurried(() => unscoped(database, clearRecordings, [before, mediaBatch, now]))).length === mediaBatch
  );
}

/** Deletes what the operator limits to a number of days; 0 keeps it for ever. */
async function clearByAge(services: Deleting & Pick<Services, "config">, now: Date) {
  const { messageRetentionDays, toolLogRetentionDays, auditRetentionDays, recordingRetentionDays } = services.config
  const daysBefore = (days: number) => new Date(now.getTime() - days * 24 * 60 * 60 * 1000)
  if (messageRetentionDays) {
    await clearOldMessages(services, daysBefore(messageRetentionDays))
    await inBatches(services, clearGuardrailExcerpts, [daysBefore(messageRetentionDays)])
  }
  if (toolLogRetentionDays) await inBatches(services, clearToolBodies, [daysBefore(toolLogRetentionDays)], jobLimits.toolBodyBatch)
  const questionDays = [messageRetentionDays, toolLogRetentionDays].filter((days) => days > 0)
  if (questionDays.length > 0) await inBatches(services, clearQuestions, [daysBefore(Math.min(...questionDays))])
  if (recordingRetentionDays) await clearOldRecordings(services, daysBefore(recordingRetentionDays), now)
  if (auditRetentionDays) await inBatches(services, clearAuditEntries, [daysBefore(auditRetentionDays)])
}

/** Deletes expired rows, in batches that do not block other work. */
export const retention: Sweep = {
  name: "retention",
  everySeconds: jobLimits.retentionSeconds,
  async run(services) {
    const { database, stopping } = services
    const now = clock.now()
    const eventsBefore = new Date(now.getTime() - jobLimits.eventRetentionSeconds * 1000)
    while (!stopping.aborted) {
      const [row] = await unhurried(() => unscoped(database, clearEvents, [eventsBefore, jobLimits.retentionBatch]))
      if (row!.count < jobLimits.retentionBatch) break
    }
    await inBatches(services, forgetRest, [null])
    await inBatches(services, forgetRestOfDeliveries, [null])
    await inBatches(services, clearEventDeliveries, [new Date(now.getTime() - jobLimits.eventDeliveryRetentionSeconds * 1000)])
    await inBatches(services, clearTurns, [new Date(now.getTime() - jobLimits.turnRetentionSeconds * 1000)])
    await inBatches(services, clearIdempotencyKeys, [new Date(now.getTime() - contextLimits.idempotencySeconds * 1000)])
    await inBatches(services, clearRefreshTokens, [now])
    await inBatches(services, clearWritePositions, [jobLimits.writePositionSeconds])
    const sessionsBefore = new Date(now.getTime() - rootLimits.refreshTokenSeconds * 1000)
    await inBatches(services, clearSessions, [firstId(sessionsBefore), sessionsBefore])
    await inBatches(services, clearChannelItems, [now])
    await inBatches(services, clearCallReports, [now])
    await clearByAge(services, now)
    await inBatches(services, clearQuestionGroups, [])
    for (const row of await unscoped(database, companiesWithDueMedia, [now]))
      if (!stopping.aborted) await forgetMedia(services, row.company_id)
  },
}
