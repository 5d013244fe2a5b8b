import { takeTurn } from "../assistant/turn.js"
import type { Job } from "./kit/scheduler.js"

/** The reply of a chat is due. The turn outlives the job: the clock is free for the next, the lease on the chat says who works. */
export const reply: Job = {
  name: "reply",
  async run(services, companyId, chatId) {
    services.running.add(takeTurn(services, companyId, chatId))
  },
}
