import { Migration } from "@mikro-orm/migrations"

/**
 * Makes PostgreSQL forget the size of tables without rows. An earlier migration measured them: of a new database's tables PostgreSQL knew that they have no rows,
 * and planned statements that read them from the first row to the last; connections keep such a plan until the next `analyze`, by which time thousands
 * of customers may have written. A table that was never measured is planned as one of ten pages. PostgreSQL can forget from version 18 on; an older one goes on
 * until `autovacuum` measures the table, a minute after its first 50 rows.
 */
export class Migration20261128205000_empty_tables extends Migration {
  override name = "Migration20261128205000_empty_tables"

  override up(): void | Promise<void> {
    this.addSql(`
      do $$
      declare
        owned text;
        is_empty boolean;
      begin
        if to_regprocedure('pg_clear_relation_stats(text, text)') is null then return; end if;
        for owned in
          select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
          where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'company_id' and not a.attisdropped
        loop
          execute format('select not exists (select from %I)', owned) into is_empty;
          if is_empty then perform pg_clear_relation_stats(current_schema()::text, owned); end if;
        end loop;
      end $$`)
  }
}
