import { Migration } from "@mikro-orm/migrations"

/** An excluded tag named "null" was stored as SQL's null, after which the assistants of its company could not be read. */
export class Migration20261122151200_excluded_tag_named_null extends Migration {
  override name = "Migration20261122151200_excluded_tag_named_null"

  override up() {
    this.addSql(
      "update assistant set excluded_tags = array_replace(excluded_tags, null, 'null') where array_position(excluded_tags, null) is not null",
    )
  }
}
