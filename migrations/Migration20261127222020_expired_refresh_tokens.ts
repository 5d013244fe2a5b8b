import { Migration } from "@mikro-orm/migrations"

/** Finds expired refresh tokens, which are deleted in batches. */
export class Migration20261127222020_expired_refresh_tokens extends Migration {
  override name = "Migration20261127222020_expired_refresh_tokens"

  override up(): void | Promise<void> {
    this.addSql(`create index "refresh_token_expires_at_index" on "refresh_token" ("expires_at");`)
  }
}
