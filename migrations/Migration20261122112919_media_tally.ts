import { Migration } from "@mikro-orm/migrations"

/**
 * The size of all files of each company, counted by the database once per statement, whatever inserts or deletes them. A deletion inserts no row:
 * the sum of a company that is deleted is gone before its files are.
 */
export class Migration20261122112919_media_tally extends Migration {
  override name = "Migration20261122112919_media_tally"

  override up() {
    this.addSql(`create table "media_tally" ("company_id" uuid not null, "bytes" bigint not null default 0, primary key ("company_id"));`)
    this.addSql(
      "alter table media_tally add constraint media_tally_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
    )
    this.addSql(`
      create function tally_media() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into media_tally as tally (company_id, bytes)
          select company_id, sum(size) from changed group by company_id order by company_id
          on conflict (company_id) do update set bytes = tally.bytes + excluded.bytes;
        else
          update media_tally tally set bytes = tally.bytes - gone.bytes
          from (select company_id, sum(size) as bytes from changed group by company_id) gone where tally.company_id = gone.company_id;
        end if;
        return null;
      end $$`)
    for (const [name, change, rows] of [
      ["media_arrived", "insert", "new"],
      ["media_removed", "delete", "old"],
    ])
      this.addSql(
        `create trigger ${name} after ${change} on media referencing ${rows} table as changed for each statement execute function tally_media()`,
      )
    // After the triggers, which keep other instances from writing files until this is committed.
    this.addSql("insert into media_tally (company_id, bytes) select company_id, sum(size) from media group by company_id")
  }
}
