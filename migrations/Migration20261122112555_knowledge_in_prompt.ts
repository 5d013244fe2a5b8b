import { Migration } from "@mikro-orm/migrations"

/** The items that the model is given as a whole, by an index: the claim of a turn looks whether one has changed. */
export class Migration20261122112555_knowledge_in_prompt extends Migration {
  override name = "Migration20261122112555_knowledge_in_prompt"

  override up() {
    this.addSql("create index knowledge_in_prompt on knowledge (assistant_id) where not is_vector")
  }
}
