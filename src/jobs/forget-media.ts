import { LockMode } from "@mikro-orm/postgresql"
import { forgetAnswers } from "../context/idempotency.js"
import { systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { clock } from "../entities/kit/clock.js"
import { Knowledge } from "../entities/knowledge.js"
import { Media } from "../entities/media.js"
import { MessageMedia } from "../entities/message-media.js"
import type { Job } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** After messages were deleted: removes files that no message or knowledge item uses. */
export const forgetMediaJob: Job = {
  name: "forget-media",
  async run(services, companyId, _chatId) {
    await forgetMedia(services, companyId)
  },
}

/** Removes unused files of a company whose removal is due: first the row, then the file, so that every row has its file. */
export async function forgetMedia(services: Services, companyId: string): Promise<void> {
  while (!services.stopping.aborted) {
    const { looked, keys } = await systemContext(services, companyId).transaction(async (tx) => {
      const { em } = tx
      // Locked, so that none of them is attached meanwhile; rows that are being attached are skipped.
      const due = await em.find(
        Media,
        { forgetAt: { $lte: clock.now() } },
        { limit: jobLimits.mediaBatch, orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
      )
      const ids = due.map((media) => media.id)
      const shown = await em.find(MessageMedia, { mediaId: { $in: ids } })
      const known = await em.find(Knowledge, { fileId: { $in: ids } }, { fields: ["fileId"] })
      const used = new Set([...shown.map((link) => link.mediaId), ...known.map((item) => item.fileId)])
      for (const media of due) {
        if (used.has(media.id)) media.attach()
        else em.remove(media)
      }
      const unused = due.filter((media) => !used.has(media.id))
      await forgetAnswers(
        tx,
        unused.map((media) => media.id),
      )
      return { looked: due.length, keys: unused.map((media) => media.storageKey) }
    })
    await services.storage.remove(keys)
    if (looked < jobLimits.mediaBatch) return
  }
}
