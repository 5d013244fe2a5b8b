import type { Config } from "../config/config.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/**
 * Ends stretches in which nobody has written for the quiet hours, at the time when that was so, and looks again later at the others. A chat that is
 * locked is left to a later run: under the lock of the chat, nothing else changes its stretch.
 */
const endQuiet: Statement<{ seen: number; ended: number }> = {
  name: "end-quiet-stretches",
  text: `
    with setting as (
      select quiet_hours * interval '1 hour' as quiet from stretch_setting
    ), due as (
      select s.id from stretch s join chat c on c.id = s.chat_id where s.outcome is null and s.check_at <= $1
      order by s.check_at limit $2 for no key update of c skip locked
    ), ended as (
      update stretch s set updated_at = $1, ended_at = s.last_message_at + quiet, end_reason = 'QUIET'
      from due, setting where s.id = due.id and s.ended_at is null and s.last_message_at + quiet <= $1 returning 1
    ), later as (
      update stretch s set check_at = s.last_message_at + quiet
      from due, setting where s.id = due.id and s.ended_at is null and s.last_message_at + quiet > $1
    )
    select (select count(*) from due)::integer as seen, (select count(*) from ended)::integer as ended`,
}

const everyMs = ({ stretchQuietHours }: Config) =>
  Math.max(jobLimits.agendaPollMs, Math.min(stretchQuietHours * 60 * 60 * 1000 * jobLimits.sweepShare, jobLimits.sweepMaxMs))

/** Ends stretches of chats in which nobody writes any more. */
export const quietStretches: Sweep = {
  name: "quiet-stretches",
  everySeconds: (config) => everyMs(config) / 1000,
  async run({ database, sequencer, stopping }) {
    const ends = AbortSignal.any([stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    while (!ends.aborted) {
      const [row] = await unscoped(database, endQuiet, [clock.now(), jobLimits.sweepBatch])
      if (row!.ended > 0) void sequencer.poke()
      if (row!.seen < jobLimits.sweepBatch) return
    }
  },
}
