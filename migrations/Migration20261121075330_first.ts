import { Migration } from "@mikro-orm/migrations"

export class Migration20261121075330_first extends Migration {
  override name = "Migration20261121075330_first"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "access_token" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "name" text not null, "token_prefix" text not null, "digest" text not null, "last_used_at" timestamptz(3) null, "created_by" uuid null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`alter table "access_token" add constraint "access_token_digest_unique" unique ("digest");`)
    this.addSql(`create index "access_token_created_by_index" on "access_token" ("created_by");`)

    this.addSql(
      `create table "assistant" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "folder_id" uuid null, "name" text not null, "prompt" text not null default '', "greeting" text null, "language" text not null default 'en', "text_model_id" uuid not null, "temperature" double precision null, "excluded_tags" text[] not null, "is_draft" boolean not null default false, "draft_of_id" uuid null, "va_registration" jsonb null, "voice_agent_status" text not null default 'none', primary key ("id"));`,
    )
    this.addSql(`create index "assistant_company_id_updated_at_index" on "assistant" ("company_id", "updated_at");`)
    this.addSql(`alter table "assistant" add constraint "assistant_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "assistant_folder" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "name" text not null, primary key ("id"));`,
    )
    this.addSql(`alter table "assistant_folder" add constraint "assistant_folder_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "channel" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "messenger" text not null, "external_id" text not null, "name" text not null, "is_active" boolean not null default true, "assistant_id" uuid null, "credentials" text null, primary key ("id"));`,
    )
    this.addSql(
      `alter table "channel" add constraint "channel_company_id_messenger_external_id_unique" unique ("company_id", "messenger", "external_id");`,
    )

    this.addSql(
      `create table "chat" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "messenger" text not null, "from_id" text not null, "external_id" text null, "name" text null, "account_name" text null, "username" text null, "phone_number" text null, "chat_type" text not null default 'private', "assistant_id" uuid null, "manager_id" uuid null, "folder_id" uuid null, "source_channel" text null, "is_under_ai_control" boolean not null default false, "ai_disable_reason" text null, "unread_count" int not null default 0, "last_read_at" timestamptz(3) null, "last_message_at" timestamptz(3) null, "last_message_id" uuid null, "recency" timestamptz(3) generated always as (coalesce(last_message_at, created_at)) stored not null, "last_sequence" int not null default 0, "comments" jsonb not null default '[]', "context_id" uuid null, "reply_first_at" timestamptz(3) null, "reply_due_at" timestamptz(3) null, "turn_id" uuid null, "turn_lease_until" timestamptz(3) null, "turn_first_at" timestamptz(3) null, "turn_failures" int not null default 0, "turn_is_final" boolean not null default false, primary key ("id"));`,
    )
    this.addSql(`create index chat_turn_lease on chat (turn_lease_until) where turn_lease_until is not null;`)
    this.addSql(`create index chat_reply_due on chat (reply_due_at) where reply_due_at is not null;`)
    this.addSql(`create index chat_recency on chat (company_id, recency desc, id desc);`)
    this.addSql(
      `alter table "chat" add constraint "chat_company_id_messenger_from_id_external_id_unique" unique ("company_id", "messenger", "from_id", "external_id");`,
    )
    this.addSql(`alter table "chat" add constraint "chat_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "chat_folder" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "name" text not null, "color" text not null default '#808080', primary key ("id"));`,
    )
    this.addSql(`alter table "chat_folder" add constraint "chat_folder_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "chat_tag" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "name" text not null, "color" text not null default '#808080', primary key ("id"));`,
    )
    this.addSql(`create unique index chat_tag_name_unique on chat_tag (company_id, lower(name));`)
    this.addSql(`alter table "chat_tag" add constraint "chat_tag_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "chat_tagging" ("chat_id" uuid not null, "tag_id" uuid not null, "company_id" uuid not null, primary key ("chat_id", "tag_id"));`,
    )
    this.addSql(`create index "chat_tagging_tag_id_index" on "chat_tagging" ("tag_id");`)

    this.addSql(
      `create table "company" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "name" text not null, "voice_balance" double precision not null default 0, "embedding_credits" int not null default 10000, "voice_lines" int not null default 1, primary key ("id"));`,
    )

    this.addSql(
      `create table "control_change" ("id" uuid not null, "company_id" uuid not null, "chat_id" uuid not null, "is_under_ai_control" boolean not null, "ai_disable_reason" text null, "actor_kind" text not null, "actor_id" uuid null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    )
    this.addSql(`create index "control_change_chat_id_created_at_index" on "control_change" ("chat_id", "created_at");`)

    this.addSql(
      `create table "event" ("id" bigserial primary key, "position" bigint null, "company_id" uuid not null, "chat_id" uuid null, "type" text not null, "payload" jsonb not null, "created_at" timestamptz(3) not null);`,
    )
    this.addSql(`create index event_company on event (company_id, position) where position is not null;`)
    this.addSql(`create index event_position on event (position) where position is not null;`)
    this.addSql(`create index event_unplaced on event (id) where position is null;`)

    this.addSql(
      `create table "event_log" ("id" serial primary key, "last_position" bigint not null default '0', "cleared_to" bigint not null default '0');`,
    )

    this.addSql(
      `create table "knowledge" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "assistant_id" uuid not null, "name" text not null, "kind" text not null, "resource_content" text not null, "is_vector" boolean not null default false, "chunk_count" int not null default 0, primary key ("id"));`,
    )
    this.addSql(`create index "knowledge_company_id_assistant_id_index" on "knowledge" ("company_id", "assistant_id");`)

    this.addSql(
      `create table "member" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "user_id" uuid not null, "role" text not null, primary key ("id"));`,
    )
    this.addSql(`create index "member_user_id_index" on "member" ("user_id");`)
    this.addSql(`alter table "member" add constraint "member_company_id_user_id_unique" unique ("company_id", "user_id");`)

    this.addSql(
      `create table "message" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid null, "sequence" int null, "role" text not null, "type" text not null, "text" text null, "source" text not null default 'PLATFORM', "from_id" text null, "status" text not null, "sent_at" timestamptz(3) null, "delivered_at" timestamptz(3) null, "delivery_error" text null, "external_id" text null, "author_id" uuid null, "context_id" uuid null, "reply_to_message_id" uuid null, "sources" jsonb not null default '[]', "function_call" jsonb null, "function_call_output" jsonb null, primary key ("id"));`,
    )
    this.addSql(`alter table "message" add constraint "message_chat_id_external_id_unique" unique ("chat_id", "external_id");`)
    this.addSql(`alter table "message" add constraint "message_chat_id_sequence_unique" unique ("chat_id", "sequence");`)

    this.addSql(
      `create table "refresh_token" ("id" uuid not null, "session_id" uuid not null, "expires_at" timestamptz(3) not null, "rotated_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`create index "refresh_token_session_id_index" on "refresh_token" ("session_id");`)

    this.addSql(
      `create table "session" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "user_id" uuid not null, "ended_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`create index "session_user_id_index" on "session" ("user_id");`)

    this.addSql(
      `create table "subscription" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "plan" text not null, "status" text not null, "starts_at" timestamptz(3) not null, "ends_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`alter table "subscription" add constraint "subscription_company_id_unique" unique ("company_id");`)

    this.addSql(
      `create table "users" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "email" text not null, "name" text not null, "password_hash" text not null, primary key ("id"));`,
    )
    this.addSql(`alter table "users" add constraint "users_email_unique" unique ("email");`)
  }
}
