import { Migration } from "@mikro-orm/migrations"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["member", "company_id", "company", "id", "cascade"],
  ["member", "user_id", "users", "id", "cascade"],
  ["subscription", "company_id", "company", "id", "cascade"],
  ["session", "user_id", "users", "id", "cascade"],
  ["refresh_token", "session_id", "session", "id", "cascade"],
  ["access_token", "company_id", "company", "id", "cascade"],
  ["access_token", "created_by", "users", "id", "set null"],
  ["assistant_folder", "company_id", "company", "id", "cascade"],
  ["assistant", "company_id", "company", "id", "cascade"],
  ["assistant", "company_id, folder_id", "assistant_folder", "company_id, id", "set null (folder_id)"],
  ["assistant", "company_id, draft_of_id", "assistant", "company_id, id", "set null (draft_of_id)"],
  ["knowledge", "company_id, assistant_id", "assistant", "company_id, id", "cascade"],
  ["channel", "company_id", "company", "id", "cascade"],
  ["channel", "company_id, assistant_id", "assistant", "company_id, id", "set null (assistant_id)"],
  ["chat_folder", "company_id", "company", "id", "cascade"],
  ["chat_tag", "company_id", "company", "id", "cascade"],
  ["chat", "company_id", "company", "id", "cascade"],
  ["chat", "company_id, assistant_id", "assistant", "company_id, id", "set null (assistant_id)"],
  ["chat", "company_id, folder_id", "chat_folder", "company_id, id", "set null (folder_id)"],
  ["chat", "company_id, manager_id", "member", "company_id, user_id", "set null (manager_id)"],
  ["chat_tagging", "company_id, chat_id", "chat", "company_id, id", "cascade"],
  ["chat_tagging", "company_id, tag_id", "chat_tag", "company_id, id", "cascade"],
  ["control_change", "company_id, chat_id", "chat", "company_id, id", "cascade"],
  ["message", "company_id", "company", "id", "cascade"],
  ["message", "company_id, chat_id", "chat", "company_id, id", "cascade"],
  ["message", "author_id", "users", "id", "set null"],
]

/**
 * The company border, kept by the database: a reference inside a company carries the company, so that a foreign row cannot be named.
 * Written by hand, since the mapper knows no `on delete set null (column)`. Looked at when the transaction commits, because the mapper, which does
 * not know them, inserts related rows in any order.
 */
export class Migration20261121080000_references extends Migration {
  override name = "Migration20261121080000_references"

  override up() {
    for (const [table, columns, target, targetColumns, onDelete] of references) {
      const name = `${table}_${columns.replaceAll(", ", "_")}_reference`
      this.addSql(
        `alter table ${table} add constraint ${name} foreign key (${columns}) references ${target} (${targetColumns}) on delete ${onDelete} deferrable initially deferred`,
      )
    }
    this.addSql("insert into event_log (id) values (1)")
    // Counted by rate-limiter-flexible, which expects the table to look like this.
    this.addSql("create table sign_in_attempt (key varchar(255) primary key, points integer not null default 0, expire bigint)")
  }
}
