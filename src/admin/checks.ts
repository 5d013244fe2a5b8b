import { wrongCounts, wrongTaggings } from "../chats/kept-counts.js"
import type { Database } from "../database/connect.js"
import { unscoped } from "../database/unscoped.js"
import type { Command } from "./kit.js"

/** Retention deletes messages from the beginning of a chat, so the first one that is left may have any sequence. */
const wrongCounters = {
  name: "wrong-counters",
  text: `select c.id as "chatId", c.company_id as "companyId", c.unread_count as "unreadCount", m.unread + c.unread_extra as "recounted",
           c.last_sequence as "lastSequence", m.messages
         from chat c cross join lateral (
           select count(*)::integer as messages, min(sequence) as first, (count(*) filter (where role = 'Customer' and sequence > c.last_read_sequence))::integer as unread
           from message where chat_id = c.id) m
         where c.unread_count <> m.unread + c.unread_extra or c.last_sequence - coalesce(m.first, c.last_sequence + 1) + 1 <> m.messages order by c.id limit 1000`,
}

const migrations = { name: "executed-migrations", text: "select name from mikro_orm_migrations order by id" }

/** The counters and kept numbers that differ from what they count; none when all is well. */
export const differingCounters = async (database: Database): Promise<object[]> =>
  (await Promise.all([wrongCounters, wrongCounts, wrongTaggings].map((each) => unscoped(database, each)))).flat()

/** Commands about the database: its schema, and derived data such as tallies. */
export const checkCommands: Record<string, Command> = {
  "database:migrate": {
    does: "Brings the database's schema to this version, as every start of the server does; prints its migrations.",
    options: {},
    // Every command has migrated when it runs.
    run: (desk) => unscoped(desk.database, migrations),
  },
  "check:counters": {
    does: "Recounts every chat's unread messages and sequence from its messages, and the numbers by which lists of chats are filtered; lists what differs, nothing when all is well.",
    options: {},
    run: (desk) => differingCounters(desk.database),
  },
}
