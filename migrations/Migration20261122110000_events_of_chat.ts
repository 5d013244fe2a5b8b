import { Migration } from "@mikro-orm/migrations"

/** The events of one chat, by an index: a visitor who resumes must not make the database read the whole log of the company. */
export class Migration20261122110000_events_of_chat extends Migration {
  override name = "Migration20261122110000_events_of_chat"

  override up() {
    this.addSql("create index event_chat on event (chat_id, position) where position is not null")
  }
}
