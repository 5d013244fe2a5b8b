import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"

/** The last message of the company's side, and the number of customer messages after it. */
const sinceOurLast: Statement<{ at: string | null; sequence: number | null; count: string }> = {
  name: "since-our-last",
  text: `with ours as (
           select sequence, created_at from message
           where chat_id = $1 and company_id = $2 and role in ('User', 'Assistant') and type not in ('FunctionCall', 'FunctionCallOutput')
           order by sequence desc limit 1)
         select (select created_at from ours) as at, (select sequence from ours) as sequence, count(*) as count from message
         where chat_id = $1 and company_id = $2 and role = 'Customer' and sequence > coalesce((select sequence from ours), 0)`,
}

/** Marks a chat as unread from the last message of the company's side on. The chat must be locked. */
export async function markUnread(unit: UnitOfWork, chat: Chat): Promise<Chat> {
  const [since] = await unit.run(sinceOurLast, [chat.id, chat.companyId])
  const { sequence, at, count } = since!
  return chat.markUnread(sequence && at ? { sequence, at: new Date(at) } : null, Number(count))
}
