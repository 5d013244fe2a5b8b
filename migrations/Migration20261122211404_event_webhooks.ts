import { Migration } from "@mikro-orm/migrations"

/**
 * Endpoints for events, and the deliveries of events to them. The version before can run beside it: it sends nothing, and its retention may
 * delete an event that was not delivered only when it is older than a day.
 */
export class Migration20261122211404_event_webhooks extends Migration {
  override name = "Migration20261122211404_event_webhooks"

  override up() {
    this.addSql(
      `create table "event_delivery" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "webhook_id" uuid not null, "event_id" text not null, "position" bigint null, "chat_id" uuid null, "type" text not null, "status" text not null default 'pending', "snapshot" jsonb null, "event_created_at" timestamptz(3) not null, "attempts" jsonb not null default '[]', "failures" int not null default 0, "retry_at" timestamptz(3) null, "requested_at" timestamptz(3) null, "due_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`create index "event_delivery_created_at_index" on "event_delivery" ("created_at");`)
    this.addSql(`create index event_delivery_chat on event_delivery (chat_id) where chat_id is not null and snapshot is not null;`)
    this.addSql(`create index event_delivery_pending on event_delivery (webhook_id, chat_id, position) where status = 'pending';`)
    this.addSql(`create index event_delivery_due on event_delivery (webhook_id, due_at, position) where due_at is not null;`)
    this.addSql(
      `create index "event_delivery_company_id_webhook_id_created_at_index" on "event_delivery" ("company_id", "webhook_id", "created_at");`,
    )
    this.addSql(`alter table "event_delivery" add constraint "event_delivery_event" unique ("webhook_id", "event_id");`)

    this.addSql(`create table "event_fan_out" ("id" serial primary key, "position" bigint not null default '0');`)

    this.addSql(
      `create table "event_webhook" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "url" text not null, "types" text[] not null, "query" text null, "disabled" boolean not null default false, "disabled_reason" text null, "ordered" boolean not null default false, "failing_since" timestamptz(3) null, "sealed_secret" text not null, "sealed_previous_secret" text null, "previous_secret_until" timestamptz(3) null, "failures_in_row" int not null default 0, "from_position" bigint not null, "sending_due_at" timestamptz(3) null, "sending_id" uuid null, "sending_lease_until" timestamptz(3) null, "sending_failures" int not null default 0, primary key ("id"));`,
    )
    this.addSql(`create index event_webhook_lease on event_webhook (sending_lease_until) where sending_lease_until is not null;`)
    this.addSql(`create index event_webhook_due on event_webhook (sending_due_at) where sending_due_at is not null;`)
    this.addSql(`create index event_webhook_enabled on event_webhook (from_position) where not disabled;`)
    this.addSql(`create index "event_webhook_company_id_created_at_index" on "event_webhook" ("company_id", "created_at");`)
    this.addSql(`alter table "event_webhook" add constraint "event_webhook_company_id_id_unique" unique ("company_id", "id");`)
    this.addSql("insert into event_fan_out (id, position) values (1, 0);")
    for (const reference of [
      "alter table event_webhook add constraint event_webhook_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table event_delivery add constraint event_delivery_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table event_delivery add constraint event_delivery_company_id_webhook_id_reference foreign key (company_id, webhook_id) references event_webhook (company_id, id) on delete cascade deferrable initially deferred",
    ])
      this.addSql(reference)
  }
}
