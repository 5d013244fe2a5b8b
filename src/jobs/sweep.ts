import { takeTurn } from "../assistant/turn.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const overdue: Statement<RowOf<"Chat", "id" | "company_id">> = {
  name: "overdue-replies",
  text: `select id, company_id from chat where reply_due_at <= $1 and turn_id is null
         union select id, company_id from chat where turn_lease_until <= $1 limit $2`,
}

/** Takes every turn that is due: what a crash, or a lost wake-up, left behind. */
export const sweep: Sweep = {
  name: "sweep",
  everySeconds: jobLimits.replySweepSeconds,
  async run(services) {
    const rows = await unscoped(services.database, overdue, [clock.now(), jobLimits.sweepBatch])
    for (const row of rows) services.running.add(takeTurn(services, row.company_id, row.id))
  },
}
