import { contextLimits } from "../context/limits.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { forgetMedia } from "./forget-media.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const clearEvents: Statement<{ count: number }> = {
  name: "clear-events",
  text: `
    with oldest as (
      select id from event where position is not null order by position limit $2
    ), deleted as (
      delete from event where id in (select id from oldest) and created_at < $1 returning position
    ), log as (
      update event_log set cleared_to = greatest(cleared_to, (select max(position) from deleted)) where id = 1 returning 1
    )
    select count(*)::integer as count from deleted`,
}

/** What a crash left of deleted chats. */
const clearEventsOfDeletedChats = {
  name: "clear-events-of-deleted-chats",
  text: `delete from event where id in (
    select rest.id from event deleted join event rest on rest.chat_id = deleted.chat_id
    where deleted.type = 'CHAT_DELETED' and rest.type <> 'CHAT_DELETED' and rest.position is not null limit $1
  ) returning 1`,
}

const clearIdempotencyKeys = { name: "clear-idempotency-keys", text: "delete from idempotency_key where created_at < $1" }
const clearRefreshTokens = { name: "clear-refresh-tokens", text: "delete from refresh_token where expires_at < $1" }

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

/** Deletes expired rows, in batches that do not block other work. */
export const retention: Sweep = {
  name: "retention",
  everySeconds: jobLimits.retentionSeconds,
  async run(services) {
    const { database } = services
    const now = clock.now()
    const eventsBefore = new Date(now.getTime() - jobLimits.eventRetentionSeconds * 1000)
    for (;;) {
      const [row] = await unscoped(database, clearEvents, [eventsBefore, jobLimits.retentionBatch])
      if (row!.count < jobLimits.retentionBatch) break
    }
    while ((await unscoped(database, clearEventsOfDeletedChats, [jobLimits.retentionBatch])).length === jobLimits.retentionBatch);
    const turnsBefore = new Date(now.getTime() - jobLimits.turnRetentionSeconds * 1000)
    while ((await unscoped(database, clearTurns, [turnsBefore, jobLimits.retentionBatch])).length === jobLimits.retentionBatch);
    await unscoped(database, clearIdempotencyKeys, [new Date(now.getTime() - contextLimits.idempotencySeconds * 1000)])
    await unscoped(database, clearRefreshTokens, [now])
    for (const row of await unscoped(database, companiesWithDueMedia, [now])) await forgetMedia(services, row.company_id)
  },
}
