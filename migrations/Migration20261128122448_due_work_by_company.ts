import { Migration } from "@mikro-orm/migrations"

/** Index, its table and its column. */
const due = [
  ["assistant_voice_due", "assistant", "voice_due_at"],
  ["call_line_due", "call", "line_due_at"],
  ["call_record_due", "call", "record_due_at"],
  ["channel_item_due", "channel_item", "handling_due_at"],
  ["channel_poll_due", "channel", "poll_due_at"],
  ["chat_delivery_due", "chat", "delivery_due_at"],
  ["chat_reply_due", "chat", "reply_due_at"],
  ["event_webhook_due", "event_webhook", "sending_due_at"],
  ["knowledge_index_due", "knowledge", "index_due_at"],
  ["mcp_server_due", "mcp_server", "refresh_due_at"],
  ["media_fetch_due", "media", "fetch_due_at"],
] as const

/** Due work is looked for by company, so that a company with much of it costs no more than its slots; and a company can be closed and deleted. */
export class Migration20261128122448_due_work_by_company extends Migration {
  override name = "Migration20261128122448_due_work_by_company"

  override up(): void | Promise<void> {
    for (const [index, table, column] of due) {
      this.addSql(`drop index ${index};`)
      this.addSql(`create index ${index} on ${table} (company_id, ${column}) where ${column} is not null;`)
    }
    this.addSql(`alter table "company" add "closed_at" timestamptz(3) null;`)
    // The deletion of a user looks for the messages that name them.
    this.addSql(`create index message_author on message (author_id) where author_id is not null;`)
  }
}
