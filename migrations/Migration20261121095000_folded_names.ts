import { Migration } from "@mikro-orm/migrations"

/** Names of tags are one regardless of case in every alphabet: "Straße" and "STRASSE", "İzmir" and its lower case. */
export class Migration20261121095000_folded_names extends Migration {
  override name = "Migration20261121095000_folded_names"

  override up() {
    // Lower, upper, lower: what is equal in either case ends as the same text. ICU knows the letters that become two; where a PostgreSQL was
    // built without it, its own locale has to do.
    this.addSql(`
      do $$
      declare icu text := (select ' collate "und-x-icu"' from pg_collation where collname = 'und-x-icu' limit 1);
      begin
        execute format('create function folded(text) returns text language sql immutable strict parallel safe return lower(upper(lower($1%s)))', icu);
      end $$`)
    // Names that were two until now: the later ones get a number.
    this.addSql(`
      update chat_tag set name = left(name, 60) || ' ' || place from (
        select id as tag_id, row_number() over (partition by company_id, folded(name) order by created_at, id) as place from chat_tag
      ) ranked where id = tag_id and place > 1`)
    this.addSql("drop index chat_tag_name_unique")
    this.addSql("create unique index chat_tag_name_unique on chat_tag (company_id, folded(name))")
  }
}
