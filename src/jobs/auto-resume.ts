import { comeBack } from "../chats/return.js"
import type { Job } from "./kit/scheduler.js"

/** A chat has been quiet for long enough, unless somebody wrote meanwhile: its assistant takes it back. */
export const autoResume: Job = {
  name: "auto-resume",
  async run(services, companyId, chatId) {
    await comeBack(services, companyId, chatId)
  },
}
