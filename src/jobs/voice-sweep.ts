import { workOnVoiceAgent } from "../assistant/voice-agent.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const overdue: Statement<RowOf<"Assistant", "id" | "company_id">> = {
  name: "overdue-voice-work",
  text: `select id, company_id from assistant where voice_due_at <= $1 and voice_work_id is null
         union select id, company_id from assistant where voice_lease_until <= $1 limit $2`,
}

/** Takes all work on voice agents that is due: what a crash, or a lost wake-up, left behind. */
export const voiceSweep: Sweep = {
  name: "voice-sweep",
  everySeconds: jobLimits.voiceSweepSeconds,
  async run(services) {
    const rows = await unscoped(services.database, overdue, [clock.now(), jobLimits.sweepBatch])
    for (const row of rows) services.running.add(workOnVoiceAgent(services, row.company_id, row.id))
  },
}
