import { Migration } from "@mikro-orm/migrations"

/** The voice side of assistants as work that is due on their rows; the order of their list; finding the chats of one. */
export class Migration20261121104500_voice_agents extends Migration {
  override name = "Migration20261121104500_voice_agents"

  override up() {
    this.addSql(
      'alter table "assistant" add "voice_agent_error" text null, add "voice_agent_provider" text null, add "voice_agent_id" text null, add "voice_due_at" timestamptz(3) null, add "voice_work_id" uuid null, add "voice_lease_until" timestamptz(3) null, add "voice_failures" int not null default 0',
    )
    this.addSql("create index assistant_voice_lease on assistant (voice_lease_until) where voice_lease_until is not null")
    this.addSql("create index assistant_voice_due on assistant (voice_due_at) where voice_due_at is not null")
    this.addSql('drop index "assistant_company_id_updated_at_index"')
    this.addSql("create index assistant_recency on assistant (company_id, updated_at desc, id desc)")
    this.addSql("create index chat_assistant on chat (assistant_id) where assistant_id is not null")
  }
}
