import { Migration } from "@mikro-orm/migrations"

/**
 * A search reads the chats by recency until it has a page, or those that the trigrams find, whichever PostgreSQL expects to be cheaper. Of the usual
 * sample of 100 texts one that happens to match makes a rare term a frequent one, and 100,000 chats are read.
 */
export class Migration20261128172000_search_statistics extends Migration {
  override name = "Migration20261128172000_search_statistics"

  override up(): void | Promise<void> {
    this.addSql("alter table chat alter column search_text set statistics 500")
    this.addSql("analyze chat (search_text)")
  }
}
