import { inBatches } from "../context/batches.js"
import type { RequestContext } from "../context/request-context.js"
import { chatLimits } from "./limits.js"

const unfile = {
  name: "unfile-chats",
  text: `with batch as (select id from chat where folder_id = $1 and company_id = any($2::uuid[]) limit $3 for no key update skip locked)
         update chat set folder_id = null from batch where chat.id = batch.id returning chat.id`,
}

const lockChats = {
  name: "lock-chats-of-folder",
  text: `with theirs as (select id from chat where folder_id = $1 and company_id = any($2::uuid[]) order by id for no key update)
         select count(*) from theirs`,
}

/** Moves all chats out of a folder that is being deleted, in batches with their own transactions, so that no chat is locked for long. */
export const unfileChats = (context: RequestContext, folderId: string): Promise<void> =>
  inBatches(context, unfile, [folderId], chatLimits.detachBatch)

/**
 * Locks the chats that are still in a folder, because they were locked before; in the transaction that deletes the folder, and before the folder
 * is locked. A transaction that changes a chat twice locks the folder after the chat: the other order would be a deadlock.
 */
export const lockChatsOf = (tx: RequestContext, folderId: string) => tx.run(lockChats, [folderId, tx.companyIds])
