import { Migration } from "@mikro-orm/migrations"

/** What is left of a tool call whose chat was deleted; one whose chat is not known to have existed, a test, keeps its bodies. */
const lostItsChat = "new.chat_id is null and (old.chat_id is not null or new.turn_id is not null)"

/**
 * With a chat go the bodies of its tool calls. The database deletes them where it sets their chat to null, and lets none in afterwards: a call
 * that is running then still records its outcome.
 */
export class Migration20261122114148_deleted_chats extends Migration {
  override name = "Migration20261122114148_deleted_chats"

  override up() {
    this.addSql(`
      create function forget_tool_call() returns trigger language plpgsql as $$
      begin
        new.params = '{}';
        new.response = null;
        return new;
      end $$`)
    this.addSql(
      `create trigger tool_call_lost_its_chat before update on tool_call for each row when (${lostItsChat}) execute function forget_tool_call()`,
    )
    this.addSql("update tool_call set params = '{}', response = null where chat_id is null and turn_id is not null")
    this.addSql("create index event_chat_deleted on event (chat_id) where type = 'CHAT_DELETED'")
    this.addSql(
      "create index idempotency_key_shown on idempotency_key ((coalesce(payload #>> '{message,chatId}', payload #>> '{chat,id}', payload #>> '{media,id}')))",
    )
  }
}
