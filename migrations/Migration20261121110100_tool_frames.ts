import { Migration } from "@mikro-orm/migrations"

/** What a chat knows of the tool calls of its turn, and finding calls that a crash left pending. */
export class Migration20261121110100_tool_frames extends Migration {
  override name = "Migration20261121110100_tool_frames"

  override up() {
    this.addSql(`alter table "chat" add "turn_rounds" int not null default 0, add "open_calls" jsonb not null default '[]'`)
    this.addSql("create index tool_call_pending on tool_call (created_at) where status = 'pending'")
  }
}
