import { returnToAi } from "../chats/ai-return.js"
import type { Job } from "./kit/scheduler.js"

/** Turns AI on again in a chat after inactivity, unless a message has arrived meanwhile. */
export const autoResume: Job = {
  name: "auto-resume",
  async run(services, companyId, chatId) {
    await returnToAi(services, companyId, chatId)
  },
}
