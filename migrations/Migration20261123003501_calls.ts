import { Migration } from "@mikro-orm/migrations"

/** Calls, and reports of voice providers about calls that are not known yet. The version before can run beside it: it makes no calls. */
export class Migration20261123003501_calls extends Migration {
  override name = "Migration20261123003501_calls"

  override up() {
    this.addSql(
      `create table "call" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "assistant_id" uuid null, "caller_assistant_id" uuid null, "status" text not null default 'queued', "duration" int null, "recording_id" uuid null, "transcript" text null, "dynamic_variables" jsonb not null default '{}', "unresolved_variables" text[] not null, "phone_number" text not null, "employee_name" text null, "call_date" timestamptz(3) not null, "source" text not null, "ended_reason" text null, "replies" jsonb not null default '[]', "provider" text not null, "provider_call_id" text null, "provider_reference" text null, "dialed_at" timestamptz(3) null, "line_taken_at" timestamptz(3) null, "queued_until" timestamptz(3) null, "answered_at" timestamptz(3) null, "ended_at" timestamptz(3) null, "is_presumed_end" boolean not null default false, "charged_minutes" double precision null, "max_duration_seconds" int not null default 0, "conversation" jsonb null, "heard" jsonb null, "recording_failures" int not null default 0, "reported_at" timestamptz(3) null, "line_due_at" timestamptz(3) null, "line_work_id" uuid null, "record_due_at" timestamptz(3) null, "line_lease_until" timestamptz(3) null, "record_work_id" uuid null, "line_failures" int not null default 0, "record_lease_until" timestamptz(3) null, "record_failures" int not null default 0, primary key ("id"));`,
    )
    this.addSql(`create index call_record_lease on call (record_lease_until) where record_lease_until is not null;`)
    this.addSql(`create index call_record_due on call (record_due_at) where record_due_at is not null;`)
    this.addSql(`create index call_line_lease on call (line_lease_until) where line_lease_until is not null;`)
    this.addSql(`create index call_line_due on call (line_due_at) where line_due_at is not null;`)
    this.addSql(`create index call_provider_call on call (provider_call_id) where provider_call_id is not null;`)
    this.addSql(`create index call_recording on call (recording_id) where recording_id is not null;`)
    this.addSql(`create index call_caller_assistant on call (caller_assistant_id);`)
    this.addSql(`create index call_assistant on call (assistant_id);`)
    this.addSql(`create index call_on_line on call (company_id) where status in ('dialing', 'in_progress');`)
    this.addSql(`create index call_waiting on call (company_id, call_date, id) where status = 'queued';`)
    this.addSql(`create index call_newest on call (company_id, call_date desc, id desc);`)
    this.addSql(`alter table "call" add constraint "call_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "call_report" ("id" uuid not null, "provider" text not null, "provider_call_id" text not null, "kind" text not null, "facts" jsonb not null, "expires_at" timestamptz(3) not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    )
    this.addSql(`create index "call_report_expires_at_index" on "call_report" ("expires_at");`)
    this.addSql(`alter table "call_report" add constraint "call_report_once" unique ("provider", "provider_call_id", "kind");`)

    this.addSql(`alter table "assistant" add "voice_on_demand" boolean not null default false;`)

    this.addSql(`create index tool_call_call on tool_call (call_id) where call_id is not null;`)
    for (const reference of [
      "alter table call add constraint call_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table call add constraint call_company_id_assistant_id_reference foreign key (company_id, assistant_id) references assistant (company_id, id) on delete set null (assistant_id) deferrable initially deferred",
      "alter table call add constraint call_company_id_caller_assistant_id_reference foreign key (company_id, caller_assistant_id) references assistant (company_id, id) on delete set null (caller_assistant_id) deferrable initially deferred",
      "alter table call add constraint call_company_id_recording_id_reference foreign key (company_id, recording_id) references media (company_id, id) on delete set null (recording_id) deferrable initially deferred",
      "alter table tool_call add constraint tool_call_company_id_call_id_reference foreign key (company_id, call_id) references call (company_id, id) on delete set null (call_id) deferrable initially deferred",
    ])
      this.addSql(reference)
  }
}
