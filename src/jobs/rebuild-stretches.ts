import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** Chats of which stretches are still to be made, in the order of their IDs. */
const waiting: Statement<{ id: string }> = {
  name: "chats-without-stretches",
  text: `
    select c.id from stretch_setting s cross join lateral (
      select id from chat where id > s.rebuilt_to and id <= s.rebuild_until order by id limit $1
    ) c where s.rebuilt_to < s.rebuild_until`,
}

const rebuild: Statement = { name: "rebuild-stretches", text: "select rebuild_stretches($1, $2)" }

const rebuilt: Statement = {
  name: "stretches-rebuilt",
  text: "update stretch_setting set rebuilt_to = coalesce($1, rebuild_until) where rebuilt_to < coalesce($1, rebuild_until)",
}

/**
 * Makes stretches of messages that were stored before there were stretches: one short transaction for each chat, which locks that chat alone. A
 * chat that is made again, after a crash or by two instances, gets the same stretches.
 */
export const rebuildStretches: Sweep = {
  name: "rebuild-stretches",
  everySeconds: jobLimits.rebuildStretchesSeconds,
  async run({ database, stopping }) {
    const ends = AbortSignal.any([stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    for (;;) {
      const chats = await unscoped(database, waiting, [jobLimits.rebuildStretchesBatch])
      let last: string | null = null
      for (const { id } of chats) {
        if (ends.aborted) break
        await unscoped(database, rebuild, [id, clock.now()])
        last = id
      }
      const isAll = chats.length < jobLimits.rebuildStretchesBatch && !ends.aborted
      if (isAll || last) await unscoped(database, rebuilt, [isAll ? null : last])
      if (isAll || ends.aborted) return
    }
  },
}
