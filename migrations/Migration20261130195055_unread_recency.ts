import { Migration } from "@mikro-orm/migrations"

/**
 * The list of unread chats of one messenger passes over those of others in the index. The old index is dropped first: a lock that grows stricter while
 * others hold weaker ones can end in a deadlock. It waits until nobody who has read chats is still in a transaction, a backup for example, and nobody
 * reads or changes chats until all pending migrations are committed; the index itself takes half a second for a million chats of which a fifth is
 * unread. The version before can run beside it.
 */
export class Migration20261130195055_unread_recency extends Migration {
  override name = "Migration20261130195055_unread_recency"

  override up(): void | Promise<void> {
    this.addSql(`drop index "chat_unread";`)
    this.addSql("create index chat_unread_recency on chat (company_id, recency desc, id desc, messenger) where unread_count > 0;")
  }
}
