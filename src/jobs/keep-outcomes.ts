import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { forgetSums, keepDays } from "../outcomes/keep.js"
import { outcomeLimits } from "../outcomes/limits.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const zones: Statement<RowOf<"OutcomeZone", "company_id" | "time_zone" | "asked_at">> = {
  name: "outcome-zones",
  text: "select company_id, time_zone, asked_at from outcome_zone order by company_id, time_zone",
}

/** Makes the sums of outcomes in the time zones in which they are asked for, and deletes those that nobody asks for any more. */
export const keepOutcomes: Sweep = {
  name: "keep-outcomes",
  everySeconds: jobLimits.keepOutcomesSeconds,
  async run(services) {
    const usedSince = new Date(clock.now().getTime() - outcomeLimits.keptUnusedDays * 24 * 60 * 60 * 1000)
    for (const zone of await unscoped(services.database, zones)) {
      if (services.stopping.aborted) return
      const change = new Date(zone.asked_at) < usedSince ? forgetSums : keepDays
      await change(services, zone.company_id, zone.time_zone)
    }
  },
}
