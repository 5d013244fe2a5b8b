import { Migration } from "@mikro-orm/migrations"

/**
 * Chats in which a person has written since AI was turned off with reason `auto`. The version before can run beside it: what it stores does not
 * end that a chat needs attention.
 */
export class Migration20261123052859_attended_chats extends Migration {
  override name = "Migration20261123052859_attended_chats"

  override up(): void | Promise<void> {
    this.addSql(`alter table "chat" add "is_attended" boolean not null default false;`)
    this.addSql(`
      update chat set is_attended = true where not is_under_ai_control and ai_disable_reason = 'auto' and exists (
        select from message m where m.chat_id = chat.id and m.role = 'User' and m.type not in ('FunctionCall', 'FunctionCallOutput')
          and m.created_at > (select max(c.created_at) from control_change c where c.chat_id = chat.id)
      )`)
  }
}
