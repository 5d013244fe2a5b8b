import { LockMode } from "@mikro-orm/postgresql"
import { systemContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { askForRating } from "../outcomes/rating.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const due: Statement<{ company_id: string; chat_id: string }> = {
  name: "due-rating-requests",
  text: `
    select company_id, chat_id from stretch where rating_due_at <= $1 and chat_id is not null order by rating_due_at, id limit $2`,
}

/** Asks customers for a rating whose stretch has ended, by messages of their channels; of two instances one asks. */
export const askRatings: Sweep = {
  name: "ask-ratings",
  everySeconds: jobLimits.askRatingsSeconds,
  async run(services) {
    const { database, stopping } = services
    const ends = AbortSignal.any([stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    for (;;) {
      const found = await unscoped(database, due, [clock.now(), jobLimits.askRatingsBatch])
      for (const { company_id: companyId, chat_id: chatId } of found) {
        if (ends.aborted) return
        await systemContext(services, companyId).transaction(async (tx) => {
          const chat = await tx.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
          if (chat) await askForRating(tx, chat)
        })
      }
      if (found.length < jobLimits.askRatingsBatch) return
    }
  },
}
