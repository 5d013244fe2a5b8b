import { inBatches } from "../context/batches.js"
import type { RequestContext } from "../context/request-context.js"
import { chatLimits } from "./limits.js"

const unfile = {
  name: "unfile-chats",
  text: `with batch as (select id from chat where folder_id = $1 and company_id = any($2::uuid[]) limit $3 for no key update skip locked)
         update chat set folder_id = null from batch where chat.id = batch.id returning chat.id`,
}

/** Moves all chats out of a folder that is being deleted, in batches with their own transactions, so that no chat is locked for long. */
export const unfileChats = (context: RequestContext, folderId: string): Promise<void> =>
  inBatches(context, unfile, [folderId], chatLimits.detachBatch)
