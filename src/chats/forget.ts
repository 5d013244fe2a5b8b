import type { RequestContext } from "../context/request-context.js"
import { chatLimits } from "./limits.js"

const forgetBatch = {
  name: "forget-events-of-chat",
  text: `
    delete from event where id in (
      select id from event where chat_id = $1 and company_id = any($2::uuid[]) and position is not null and type <> 'CHAT_DELETED' limit $3
    ) returning 1`,
}

/**
 * Deletes the events of a chat that was deleted, CHAT_DELETED excepted: after the commit, in short statements, and only those with a position,
 * because the sequencer, which serves all companies, locks the others. The sweep of retention deletes what a crash leaves of them.
 */
export async function forgetEvents(context: RequestContext, chatId: string): Promise<void> {
  await context.services.sequencer.poke()
  const batch = [chatId, context.companyIds, chatLimits.forgetBatch]
  while ((await context.statement(forgetBatch, batch)).length === chatLimits.forgetBatch);
}
