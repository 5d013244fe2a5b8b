import { Migration } from "@mikro-orm/migrations"

/**
 * Tells PostgreSQL that a company may have a tenth of the rows of a table. Prepared statements are planned for any company; from the number of companies alone
 * PostgreSQL took each for an average one, and with a thousand small companies and a large one it read all rows of the large one by an index on the company
 * where it was to read those of one chat. The statistics are made anew, from a sample of each table.
 */
export class Migration20261128093000_company_statistics extends Migration {
  override name = "Migration20261128093000_company_statistics"

  override up(): void | Promise<void> {
    // A table with references that are still to be checked, because this transaction wrote it, cannot be altered.
    this.addSql("set constraints all immediate")
    this.addSql(`
      do $$
      declare owned text;
      begin
        for owned in
          select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
          where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'company_id' and not a.attisdropped
        loop
          execute format('alter table %I alter column company_id set (n_distinct = 10)', owned);
          execute format('analyze %I (company_id)', owned);
        end loop;
      end $$`)
  }
}
