import { unscoped } from "../database/unscoped.js"
import type { Command } from "./kit.js"

const wrongCounters = {
  name: "wrong-counters",
  text: `select c.id as "chatId", c.company_id as "companyId", c.unread_count as "unreadCount", m.unread + c.unread_extra as "recounted",
           c.last_sequence as "lastSequence", m.messages
         from chat c cross join lateral (
           select count(*)::integer as messages, (count(*) filter (where role = 'Customer' and sequence > c.last_read_sequence))::integer as unread
           from message where chat_id = c.id) m
         where c.unread_count <> m.unread + c.unread_extra or c.last_sequence <> m.messages order by c.id limit 1000`,
}

/** Commands that verify derived data, such as tallies. */
export const checkCommands: Record<string, Command> = {
  "check:counters": {
    does: "Recounts every chat's unread messages and sequence from its messages; lists the chats that differ, none when all is well.",
    options: {},
    run: (desk) => unscoped(desk.database, wrongCounters),
  },
}
