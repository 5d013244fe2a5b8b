import { Migration } from "@mikro-orm/migrations"

/** Up to where the log of writes has what a credential wrote of late (`token:ID`, `user:ID`), or what events have told a company (`company:ID`); unlogged, and so empty after a crash or a promotion. */
export class Migration20261128140000_write_position extends Migration {
  override name = "Migration20261128140000_write_position"

  override up(): void | Promise<void> {
    this.addSql("create unlogged table write_position (key text primary key, position pg_lsn not null, written_at timestamptz(3) not null)")
  }
}
