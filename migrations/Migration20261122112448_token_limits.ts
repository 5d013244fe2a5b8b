import { Migration } from "@mikro-orm/migrations"

export class Migration20261122112448_token_limits extends Migration {
  override name = "Migration20261122112448_token_limits"

  override up(): void | Promise<void> {
    this.addSql(`alter table "access_token" add "expires_at" timestamptz(3) null, add "read_only" boolean not null default false;`)
  }
}
