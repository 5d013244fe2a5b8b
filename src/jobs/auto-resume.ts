import { comeBack } from "../chats/return.js"
import type { Job } from "./kit/scheduler.js"

/** Returns a chat to its assistant after the quiet time, unless it was written in meanwhile. */
export const autoResume: Job = {
  name: "auto-resume",
  async run(services, companyId, chatId) {
    await comeBack(services, companyId, chatId)
  },
}
