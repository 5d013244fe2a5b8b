import { returnToAi } from "../chats/ai-return.js"
import type { Config } from "../config/config.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { activeStatuses } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** Read from subscriptions, so that chats of companies without an active one are not scanned. */
const quiet: Statement<RowOf<"Chat", "id" | "company_id" | "quiet_since">> = {
  name: "quiet-chats",
  text: `
    select waiting.* from subscription s cross join lateral (
      select id, company_id, quiet_since from chat
      where company_id = s.company_id and quiet_since <= $1 order by quiet_since limit $4
    ) waiting
    where s.status = any($3::text[]) and (s.ends_at is null or s.ends_at > $2)
    order by waiting.quiet_since limit $4`,
}

/** Interval of this sweep in milliseconds: a tenth of the inactivity, at most 30 s, at least the interval of the scheduler. */
const lookEveryMs = ({ autoResumeAfterMs }: Config) =>
  Math.max(jobLimits.agendaPollMs, Math.min(autoResumeAfterMs * jobLimits.sweepShare, jobLimits.sweepMaxMs))

/** Turns AI on again after inactivity; schedules a job for chats that reach it before the next sweep. */
export const quietChats: Sweep = {
  name: "quiet-chats",
  everySeconds: (config) => lookEveryMs(config) / 1000,
  async run(services) {
    const { config, database, scheduler, running, stopping } = services
    const now = clock.now()
    const untilNextLook = new Date(now.getTime() + lookEveryMs(config) - config.autoResumeAfterMs)
    const rows = await unscoped(database, quiet, [untilNextLook, now, activeStatuses, jobLimits.sweepBatch])
    for (const row of rows) {
      if (stopping.aborted) return
      const { id, company_id: companyId } = row
      const at = new Date(new Date(row.quiet_since!).getTime() + config.autoResumeAfterMs)
      // One after the other: they are not urgent, and requests need the database.
      if (at <= now) await running.add(returnToAi(services, companyId, id))
      else await scheduler.schedule({ job: "auto-resume", companyId, id, at })
    }
  },
}
