import { Migration } from "@mikro-orm/migrations"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["assistant_turn", "company_id", "company", "id", "cascade"],
  ["assistant_turn", "company_id, chat_id", "chat", "company_id, id", "cascade"],
  ["assistant_turn", "company_id, assistant_id", "assistant", "company_id, id", "set null (assistant_id)"],
]

/** The turns of assistants, and the chats that come back to them. */
export class Migration20261121110000_turns extends Migration {
  override name = "Migration20261121110000_turns"

  override up() {
    this.addSql(
      'create table "assistant_turn" ("id" uuid not null, "company_id" uuid not null, "chat_id" uuid not null, "assistant_id" uuid null, "model" text not null, "rounds" int not null default 0, "input_tokens" int null, "output_tokens" int null, "latency_ms" int null, "outcome" text null, "started_at" timestamptz(3) not null, "ended_at" timestamptz(3) null, primary key ("id"))',
    )
    this.addSql('create index "assistant_turn_started_at_index" on "assistant_turn" ("started_at")')
    this.addSql('create index "assistant_turn_chat_id_started_at_index" on "assistant_turn" ("chat_id", "started_at")')
    for (const [table, columns, target, targetColumns, onDelete] of references) {
      const name = `${table}_${columns.replaceAll(", ", "_")}_reference`
      this.addSql(
        `alter table ${table} add constraint ${name} foreign key (${columns}) references ${target} (${targetColumns}) on delete ${onDelete} deferrable initially deferred`,
      )
    }
    this.addSql('alter table "chat" add "quiet_since" timestamptz(3) null')
    // Chats that were handed over before are as quiet as their last message.
    this.addSql(
      "update chat set quiet_since = recency where not is_under_ai_control and ai_disable_reason = 'auto' and assistant_id is not null and chat_type <> 'group'",
    )
    this.addSql("create index chat_quiet on chat (company_id, quiet_since) where quiet_since is not null")
  }
}
