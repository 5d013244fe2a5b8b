import { Migration } from "@mikro-orm/migrations"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["knowledge", "company_id, file_id", "media", "company_id, id", "no action"],
  ["knowledge_chunk", "company_id, knowledge_id", "knowledge", "company_id, id", "cascade"],
  ["knowledge_chunk", "company_id, assistant_id", "assistant", "company_id, id", "cascade"],
]

/** Pages and files as knowledge, and the index that they are searched by. */
export class Migration20261121103000_knowledge extends Migration {
  override name = "Migration20261121103000_knowledge"

  override up() {
    this.addSql(
      'create table "knowledge_chunk" ("id" uuid not null, "company_id" uuid not null, "knowledge_id" uuid not null, "assistant_id" uuid not null, "generation" uuid not null, "position" int not null, "content" text not null, "content_hash" text not null, "embedding" real[] not null, "embedding_model" text not null, "tsv" tsvector not null, primary key ("id"))',
    )
    this.addSql("create index knowledge_chunk_words on knowledge_chunk using gin (tsv)")
    this.addSql('create index "knowledge_chunk_assistant_id_index" on "knowledge_chunk" ("assistant_id")')
    this.addSql('create index "knowledge_chunk_company_id_content_hash_index" on "knowledge_chunk" ("company_id", "content_hash")')
    this.addSql(
      'alter table "knowledge_chunk" add constraint "knowledge_chunk_knowledge_id_generation_position_unique" unique ("knowledge_id", "generation", "position")',
    )
    this.addSql(
      'alter table "knowledge" add "resource_url" text null, add "file_id" uuid null, add "chunk_size" int not null default 1000, add "chunk_overlap" int not null default 150, add "index_status" text null, add "index_error" text null, add "index_generation" uuid null, add "embedding_model" text null, add "index_due_at" timestamptz(3) null, add "index_run" uuid null, add "index_lease_until" timestamptz(3) null, add "index_attempts" int not null default 0, add "resource_etag" text null, add "resource_last_modified" text null',
    )
    this.addSql('alter table "knowledge" alter column "resource_content" drop not null')
    this.addSql("create index knowledge_index_lease on knowledge (index_lease_until) where index_lease_until is not null")
    this.addSql("create index knowledge_index_due on knowledge (index_due_at) where index_due_at is not null")
    this.addSql("create index knowledge_of_file on knowledge (file_id) where file_id is not null")
    this.addSql('alter table "knowledge" add constraint "knowledge_company_id_id_unique" unique ("company_id", "id")')
    for (const [table, columns, target, targetColumns, onDelete] of references) {
      const name = `${table}_${columns.replaceAll(", ", "_")}_reference`
      this.addSql(
        `alter table ${table} add constraint ${name} foreign key (${columns}) references ${target} (${targetColumns}) on delete ${onDelete} deferrable initially deferred`,
      )
    }
    this.forgetWhatLostItsItem()
  }

  /** As with messages: an item also goes with its assistant, by cascade, so the database marks the file; whether something else still uses it is looked at when it is removed. */
  private forgetWhatLostItsItem() {
    this.addSql(`
      create function forget_knowledge_file() returns trigger language plpgsql as $$
      begin
        update media set forget_at = to_timestamp(0) where id = old.file_id and company_id = old.company_id;
        return null;
      end $$`)
    this.addSql(
      "create trigger knowledge_gone after delete on knowledge for each row when (old.file_id is not null) execute function forget_knowledge_file()",
    )
    this.addSql(
      "create trigger knowledge_file_changed after update of file_id on knowledge for each row when (old.file_id is not null and old.file_id is distinct from new.file_id) execute function forget_knowledge_file()",
    )
  }
}
