import { NIL } from "uuid"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { awaitFanOut } from "../event-webhooks/fan-out.js"
import { unhurried } from "../jobs/kit/unhurried.js"
import { closeCompany } from "./close-company.js"
import { type CommandContext, change } from "./kit.js"
import { adminLimits } from "./limits.js"
import { commandServices } from "./services.js"

const owned = "company_id = $1"

/**
 * Tables that grow with the chats of a company, with the condition on its rows: they are emptied in this order, those that refer to others first. What
 * belongs to these rows, and the small tables, are deleted with them by foreign keys.
 */
const growing: Record<string, string> = {
  message: owned,
  tool_call: owned,
  asked_question: owned,
  guardrail_hit: owned,
  stretch: owned,
  channel_item: owned,
  chat: owned,
  call: owned,
  knowledge_chunk: owned,
  knowledge: owned,
  // The sequencer, which serves all companies, locks those without a position.
  event: `${owned} and position is not null`,
  event_delivery: owned,
  idempotency_key:
    "$1::text in (payload #>> '{message,companyId}', payload #>> '{chat,companyId}', payload #>> '{media,companyId}', payload #>> '{call,companyId}')",
  audit_entry: owned,
  media: owned,
}

/** The type of a table's IDs, and a value before all of them. */
const idsOf = (table: string) => (table === "event" ? { type: "bigint", first: "-1" } : { type: "uuid", first: NIL as string })

/** `$1` the company, `$2` the row before, `$3` how many. */
const nextRows = (table: string, condition: string): Statement<{ id: string }> => ({
  name: `rows-of-company-in-${table}`,
  text: `select id from ${table} where ${condition} and id > $2 order by id limit $3`,
})

/** `$1` the company, `$2` rows; returns the files of those that have one. */
const removal = (table: string, condition: string): Statement<{ file: string | null }> => ({
  name: `remove-company-from-${table}`,
  text: `delete from ${table} where id = any($2::${idsOf(table).type}[]) and ${condition} returning ${table === "media" ? "storage_key" : "null"} as file`,
})

/** Deletes the rows of a company from a table in short statements, with as much time between them, and returns their number. */
async function empty(context: RequestContext, table: string, condition: string): Promise<number> {
  const [companyId] = context.companyIds
  let removed = 0
  for (let last = idsOf(table).first; ; ) {
    const ids = (await context.statement(nextRows(table, condition), [companyId, last, adminLimits.deleteSearch])).map(({ id }) => id)
    if (ids.length === 0) return removed
    last = ids.at(-1)!
    for (let at = 0; at < ids.length; at += adminLimits.deleteBatch) {
      const batch = ids.slice(at, at + adminLimits.deleteBatch)
      const rows = await unhurried(() => context.statement(removal(table, condition), [companyId, batch]))
      removed += rows.length
      // A crash before leaves files without rows, which the server's sweep removes.
      await context.services.storage.remove(rows.flatMap(({ file }) => file ?? []))
    }
  }
}

/** Locks the members of a company, so that none of them gets another company meanwhile. */
const lockMembers: Statement = {
  name: "lock-members-of-company",
  text: "select from users where id in (select user_id from member where company_id = $1) order by id for update",
}

/** Deletes the members of a company who are members of no other one, with what they are signed in with, and returns them. */
const deleteMembers: Statement = {
  name: "delete-members-of-company",
  text: `delete from users u using member own where own.company_id = $1 and own.user_id = u.id
         and not exists (select from member other where other.user_id = u.id and other.company_id <> $1) returning 1`,
}

/** Deletes a company with what is left of it. */
const deleteRest: Statement = { name: "delete-company", text: "delete from company where id = $1" }

/**
 * Deletes a company with everything that it owns, also beside a running server, whose other companies hardly notice; run again, it completes what an
 * interruption has left.
 */
export async function deleteCompany(desk: CommandContext, companyId: string): Promise<object> {
  const startedAt = clock.now()
  await closeCompany(desk, companyId)
  await using stack = new AsyncDisposableStack()
  const services = await commandServices(desk, stack)
  const context = systemContext(services, companyId)
  // Events get their positions, and deliveries of them that are being made are stored.
  await services.sequencer.poke()
  await context.statement(awaitFanOut, [])
  const removed: Record<string, number> = {}
  for (const [table, condition] of Object.entries(growing)) removed[table] = await empty(context, table, condition)
  const users = await change(desk, [companyId], async (unit) => {
    await unit.run(lockMembers, [companyId])
    const deleted = await unit.run(deleteMembers, [companyId])
    await unit.run(deleteRest, [companyId])
    return deleted.length
  })
  const { chat: Chat, message: Message, call: Call, knowledge: Knowledge, media: Media } = removed
  const records = { User: users, Chat, Message, Call, Knowledge, Media }
  return { command: "company:delete", companyId, startedAt, finishedAt: clock.now(), records }
}
