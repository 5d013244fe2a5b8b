import { Migration } from "@mikro-orm/migrations"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["media", "company_id", "company", "id", "cascade"],
  ["message_media", "company_id, message_id", "message", "company_id, id", "cascade"],
  ["message_media", "company_id, media_id", "media", "company_id, id", "no action"],
]

/** Uploaded files, and the messages that show them. */
export class Migration20261121090000_media extends Migration {
  override name = "Migration20261121090000_media"

  override up() {
    this.addSql('alter table "message" add constraint "message_company_id_id_unique" unique ("company_id", "id")')
    this.addSql(
      'create table "media" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "filename" text not null, "mime_type" text not null, "size" int not null, "sha256" text not null, "storage_key" text not null, "forget_at" timestamptz(3) null, primary key ("id"))',
    )
    this.addSql("create index media_forgotten on media (forget_at) where forget_at is not null")
    this.addSql('alter table "media" add constraint "media_company_id_id_unique" unique ("company_id", "id")')
    this.addSql(
      'create table "message_media" ("id" uuid not null, "company_id" uuid not null, "message_id" uuid not null, "media_id" uuid not null, "position" int not null, primary key ("id"))',
    )
    this.addSql('create index "message_media_media_id_index" on "message_media" ("media_id")')
    this.addSql('alter table "message_media" add constraint "message_media_message_id_position_unique" unique ("message_id", "position")')
    for (const [table, columns, target, targetColumns, onDelete] of references) {
      const name = `${table}_${columns.replaceAll(", ", "_")}_reference`
      this.addSql(
        `alter table ${table} add constraint ${name} foreign key (${columns}) references ${target} (${targetColumns}) on delete ${onDelete} deferrable initially deferred`,
      )
    }
    this.forgetWhatLostItsMessage()
  }

  /** Messages go with their chat, by cascade, where no code comes by: the database marks the file; whether another message still shows it is looked at when it is removed. */
  private forgetWhatLostItsMessage() {
    this.addSql(`
      create function forget_media() returns trigger language plpgsql as $$
      begin
        update media set forget_at = to_timestamp(0) where id = old.media_id and company_id = old.company_id;
        return null;
      end $$`)
    this.addSql("create trigger message_media_gone after delete on message_media for each row execute function forget_media()")
  }
}
