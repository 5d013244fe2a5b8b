import { Migration } from "@mikro-orm/migrations"

/** The inbox: repeatable requests, the search, and finding the chats of a folder. */
export class Migration20261121085000_inbox extends Migration {
  override name = "Migration20261121085000_inbox"

  override up() {
    this.addSql("create extension if not exists pg_trgm")
    this.addSql(
      'create table "idempotency_key" ("id" uuid not null, "credential" text not null, "operation" text not null, "key" text not null, "request" text not null, "payload" jsonb not null, "created_at" timestamptz(3) not null, primary key ("id"))',
    )
    this.addSql('create index "idempotency_key_created_at_index" on "idempotency_key" ("created_at")')
    this.addSql(
      'alter table "idempotency_key" add constraint "idempotency_key_credential_operation_key_unique" unique ("credential", "operation", "key")',
    )
    this.addSql(
      "alter table \"chat\" add \"search_text\" text generated always as (lower(coalesce(name, '') || chr(10) || coalesce(account_name, '') || chr(10) || coalesce(username, '') || chr(10) || coalesce(phone_number, ''))) stored not null",
    )
    this.addSql('alter table "chat" add "last_read_sequence" int not null default 0, add "unread_extra" int not null default 0')
    this.addSql("create index chat_folder_filed on chat (folder_id) where folder_id is not null")
    this.addSql("create index chat_search on chat using gin (search_text gin_trgm_ops)")
  }
}
