import { Migration } from "@mikro-orm/migrations"

/** The settings that a voice provider has confirmed. The version before can run beside it: an agent that it updates counts as updated until its next change. */
export class Migration20261127020328_voice_agent_hash extends Migration {
  override name = "Migration20261127020328_voice_agent_hash"

  override up(): void | Promise<void> {
    this.addSql(`alter table "assistant" add "voice_agent_hash" text null;`)
  }
}
