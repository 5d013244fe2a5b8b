import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { forgetSums, keepSums } from "../outcomes/keep.js"
import { outcomeLimits } from "../outcomes/limits.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const zones: Statement<RowOf<"OutcomeZone", "company_id" | "time_zone" | "asked_at">> = {
  name: "outcome-zones",
  // In any order, since a run may not reach all of them.
  text: "select company_id, time_zone, asked_at from outcome_zone order by random()",
}

/** Makes the sums of outcomes in the time zones in which they are asked for, and deletes those that nobody asks for any more. */
export const keepOutcomes: Sweep = {
  name: "keep-outcomes",
  everySeconds: jobLimits.keepOutcomesSeconds,
  async run(services) {
    const usedSince = new Date(clock.now().getTime() - outcomeLimits.keptUnusedDays * 24 * 60 * 60 * 1000)
    const ends = AbortSignal.any([services.stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    for (const zone of await unscoped(services.database, zones)) {
      if (ends.aborted) return
      const isUnused = new Date(zone.asked_at) < usedSince
      if (isUnused) await forgetSums(services, zone.company_id, zone.time_zone)
      else await keepSums(services, zone.company_id, zone.time_zone, ends)
    }
  },
}
