import { forgetMedia } from "../media/forget.js"
import type { Job } from "./kit/scheduler.js"

/** Messages are gone: removes the files that nothing shows any more. */
export const forgetMediaJob: Job = {
  name: "forget-media",
  async run(services, companyId, _chatId) {
    await forgetMedia(services, companyId)
  },
}
