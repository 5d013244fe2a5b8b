import { Migration } from "@mikro-orm/migrations"

/** An index for chats in which a person has to answer. The version before can run beside it. */
export class Migration20261123145910_attention_index extends Migration {
  override name = "Migration20261123145910_attention_index"

  override up(): void | Promise<void> {
    this.addSql(
      `create index chat_attention on chat (company_id, recency desc, id desc) where not is_under_ai_control and ai_disable_reason = 'auto' and not is_attended;`,
    )
  }
}
