import { Migration } from "@mikro-orm/migrations"

/** How long nobody has written when a stretch ends. */
const quiet = "(select quiet_hours * interval '1 hour' from stretch_setting)"

/** As before, and a hand-off by a guardrail lets the customer wait for a person, like one by the assistant. */
const noteControl = `create or replace function note_control(of_chat uuid, is_on boolean, why text, person uuid, at timestamptz)
    returns void language sql as $$
    update stretch set updated_at = at, is_under_ai = is_on,
      handed_off_at = case when is_under_ai and not is_on then coalesce(handed_off_at, at) else handed_off_at end,
      hand_off_reason = case when is_under_ai and not is_on and handed_off_at is null then why else hand_off_reason end,
      person_id = case when why = 'person' then coalesce(person_id, person) else person_id end,
      person_due_since = case when is_on then null when is_under_ai and why in ('assistant', 'failure', 'guardrail') then at
        else person_due_since end,
      returned_at = case when is_on and handed_off_at is not null then coalesce(returned_at, at) else returned_at end
    where chat_id = of_chat and ended_at is null and last_message_at + ${quiet} > at
  $$`

const references = [
  "guardrail_hit_company_id_reference foreign key (company_id) references company (id) on delete cascade",
  "guardrail_hit_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade",
  "guardrail_hit_company_id_call_id_reference foreign key (company_id, call_id) references call (company_id, id) on delete cascade",
  "guardrail_hit_company_id_assistant_id_reference foreign key (company_id, assistant_id) references assistant (company_id, id) on delete set null (assistant_id)",
  "guardrail_hit_company_id_message_id_reference foreign key (company_id, message_id) references message (company_id, id) on delete set null (message_id)",
]

/** Guardrails of assistants with their hits, and what an assistant tells customers on a hand-off. */
export class Migration20261125193507_guardrails extends Migration {
  override name = "Migration20261125193507_guardrails"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "guardrail_hit" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid null, "call_id" uuid null, "message_id" uuid null, "assistant_id" uuid null, "rule" text not null, "direction" text not null, "action" text not null, "reason" text not null, "excerpt" text null, primary key ("id"));`,
    )
    this.addSql(`create index guardrail_hit_excerpt on guardrail_hit (created_at) where excerpt is not null;`)
    this.addSql(`create index guardrail_hit_assistant on guardrail_hit (assistant_id) where assistant_id is not null;`)
    this.addSql(`create index guardrail_hit_message on guardrail_hit (message_id) where message_id is not null;`)
    this.addSql(`create index guardrail_hit_call on guardrail_hit (call_id) where call_id is not null;`)
    this.addSql(`create index guardrail_hit_chat on guardrail_hit (chat_id) where chat_id is not null;`)
    this.addSql(`create index guardrail_hit_newest on guardrail_hit (company_id, created_at desc, id desc);`)

    this.addSql(`alter table "assistant" add "hand_off_message" text null, add "guardrail_settings" jsonb null;`)
    for (const reference of references) this.addSql(`alter table guardrail_hit add constraint ${reference} deferrable initially deferred`)
    this.addSql(noteControl)
  }
}
