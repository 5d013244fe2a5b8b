import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { resultLost } from "../entities/tool-call.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const endLostCalls = {
  name: "end-lost-tool-calls",
  text: `update tool_call set status = 'error', error = $2 where id in (
    select id from tool_call where status = 'pending' and created_at < $1 order by created_at limit $3 for update skip locked)`,
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
