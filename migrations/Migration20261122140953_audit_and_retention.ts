import { Migration } from "@mikro-orm/migrations"

/** Who changed what, without values; and finding the tool calls whose bodies are old. */
export class Migration20261122140953_audit_and_retention extends Migration {
  override name = "Migration20261122140953_audit_and_retention"

  override up() {
    this.addSql(
      `create table "audit_entry" ("id" uuid not null, "company_id" uuid not null, "actor_kind" text not null, "actor_id" uuid null, "action" text not null, "subject_type" text not null, "subject_id" uuid not null, "changed" text[] not null, "address" text null, "request_id" text null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    )
    this.addSql(`create index audit_entry_age on audit_entry (created_at);`)
    this.addSql(`create index audit_entry_newest on audit_entry (company_id, created_at desc, id desc);`)
    this.addSql(
      "alter table audit_entry add constraint audit_entry_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
    )

    this.addSql(`create index tool_call_body on tool_call (created_at) where params <> '{}' or response is not null;`)
  }
}
