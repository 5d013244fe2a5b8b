import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { resultLost } from "../entities/tool-call.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** Locks the chats first, as everything else does that ends a call: the outcome is a fact of the chat's stretch. */
const endLostCalls = {
  name: "end-lost-tool-calls",
  text: `
    with lost as (
      select id, chat_id from tool_call where status = 'pending' and created_at < $1 order by created_at limit $3 for update skip locked
    ), locked as (
      select id from chat where id in (select chat_id from lost) for no key update skip locked
    )
    update tool_call set status = 'error', error = $2 where status = 'pending'
      and id in (select lost.id from lost left join locked on locked.id = lost.chat_id where lost.chat_id is null or locked.id is not null)`,
}

/** Ends calls in the log that a crash left pending: of turns that were not resumed, and of tests. */
export const lostToolCalls: Sweep = {
  name: "lost-tool-calls",
  everySeconds: jobLimits.lostToolCallSweepSeconds,
  async run({ database }) {
    const before = new Date(clock.now().getTime() - jobLimits.lostToolCallSeconds * 1000)
    await unscoped(database, endLostCalls, [before, resultLost, jobLimits.retentionBatch])
  },
}
