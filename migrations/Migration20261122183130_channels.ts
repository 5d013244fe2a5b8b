import { Migration } from "@mikro-orm/migrations"

/**
 * Messengers: what waits to be sent, what arrived and could not be stored at once, and what channels call chats and messages. The version before
 * can run beside it: it writes none of the new columns, and its messages are sent with the next one of their chat.
 */
export class Migration20261122183130_channels extends Migration {
  override name = "Migration20261122183130_channels"

  override up() {
    this.addSql(
      `create table "channel_item" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "channel_id" uuid not null, "chat_id" uuid null, "state" text not null, "external_id" text null, "item" jsonb null, "expires_at" timestamptz(3) not null, "handling_due_at" timestamptz(3) null, "handling_id" uuid null, "handling_lease_until" timestamptz(3) null, "handling_failures" int not null default 0, primary key ("id"));`,
    )
    this.addSql(`create index "channel_item_expires_at_index" on "channel_item" ("expires_at");`)
    this.addSql(`create index channel_item_chat on channel_item (company_id, chat_id) where chat_id is not null;`)
    this.addSql(`create index "channel_item_company_id_channel_id_index" on "channel_item" ("company_id", "channel_id");`)
    this.addSql(`create index channel_item_lease on channel_item (handling_lease_until) where handling_lease_until is not null;`)
    this.addSql(`create index channel_item_due on channel_item (handling_due_at) where handling_due_at is not null;`)
    this.addSql(`create index channel_item_early on channel_item (channel_id, external_id) where state = 'early';`)

    this.addSql(
      `create table "channel_message" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid not null, "message_id" uuid not null, "data" jsonb null, "template" jsonb null, "answers" jsonb null, "accepted" jsonb not null default '[]', "sending_since" timestamptz(3) null, "version" double precision not null default 0, "queued_at" timestamptz(3) not null, "failures" int not null default 0, "may_be_twice" boolean not null default false, "is_withdrawn" boolean not null default false, primary key ("id"));`,
    )
    this.addSql(`create index "channel_message_company_id_chat_id_index" on "channel_message" ("company_id", "chat_id");`)
    this.addSql(`alter table "channel_message" add constraint "channel_message_message_id_unique" unique ("message_id");`)

    this.addSql(
      `create table "chat_identity" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid not null, "messenger" text not null, "from_id" text not null, "external_id" text not null, primary key ("id"));`,
    )
    this.addSql(`create index "chat_identity_company_id_chat_id_index" on "chat_identity" ("company_id", "chat_id");`)
    this.addSql(
      `alter table "chat_identity" add constraint "chat_identity_company_id_messenger_from_id_external_id_unique" unique ("company_id", "messenger", "from_id", "external_id");`,
    )

    this.addSql(
      `create table "message_part" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid not null, "message_id" uuid not null, "position" int not null, "external_id" text not null, "status" text not null default 'sent', primary key ("id"));`,
    )
    this.addSql(`create index "message_part_company_id_external_id_index" on "message_part" ("company_id", "external_id");`)
    this.addSql(`alter table "message_part" add constraint "message_part_chat_id_external_id_unique" unique ("chat_id", "external_id");`)
    this.addSql(`alter table "message_part" add constraint "message_part_message_id_position_unique" unique ("message_id", "position");`)

    this.addSql(
      `alter table "channel" add "problem" text null, add "last_inbound_at" timestamptz(3) null, add "poll_due_at" timestamptz(3) null, add "poll_id" uuid null, add "poll_lease_until" timestamptz(3) null, add "poll_failures" int not null default 0, add "next_send_at" timestamptz(3) null, add "poll_state" jsonb null;`,
    )
    this.addSql(`create index channel_poll_lease on channel (poll_lease_until) where poll_lease_until is not null;`)
    this.addSql(`create index channel_poll_due on channel (poll_due_at) where poll_due_at is not null;`)
    this.addSql(`alter table "channel" add constraint "channel_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `alter table "chat" add "delivery_due_at" timestamptz(3) null, add "delivery_id" uuid null, add "delivery_lease_until" timestamptz(3) null, add "delivery_failures" int not null default 0;`,
    )
    this.addSql(`create index chat_delivery_lease on chat (delivery_lease_until) where delivery_lease_until is not null;`)
    this.addSql(`create index chat_delivery_due on chat (delivery_due_at) where delivery_due_at is not null;`)

    this.addSql(
      `alter table "media" add "status" text not null default 'ready', add "source" jsonb null, add "fetch_due_at" timestamptz(3) null, add "fetch_id" uuid null, add "fetch_lease_until" timestamptz(3) null, add "fetch_failures" int not null default 0;`,
    )
    this.addSql(`create index media_fetch_lease on media (fetch_lease_until) where fetch_lease_until is not null;`)
    this.addSql(`create index media_fetch_due on media (fetch_due_at) where fetch_due_at is not null;`)

    this.addSql(`alter table "message" add "delivery_error_code" text null, add "sender" jsonb null;`)
    this.addSql(`create index message_queued on message (company_id, chat_id, sequence) where status = 'queued';`)
    this.addSql(`create index message_on_channel on message (company_id, external_id) where external_id is not null;`)

    // Messages for channels were stored and not sent until now: those that wait must not be sent years later.
    this.addSql(
      `update message set status = 'failed', delivery_error_code = 'EXPIRED', delivery_error = 'It was stored before this server could send messages to channels' where status = 'queued'`,
    )
    this.addSql(`
      create function tally_media_size() returns trigger language plpgsql as $$
      begin
        update media_tally set bytes = bytes + new.size - old.size where company_id = new.company_id;
        return null;
      end $$`)
    // A file of a channel has its size when it was fetched.
    this.addSql(
      "create trigger media_resized after update of size on media for each row when (new.size <> old.size) execute function tally_media_size()",
    )
    for (const reference of [
      "alter table channel_item add constraint channel_item_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table channel_message add constraint channel_message_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table chat_identity add constraint chat_identity_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table message_part add constraint message_part_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table channel_item add constraint channel_item_company_id_channel_id_reference foreign key (company_id, channel_id) references channel (company_id, id) on delete cascade deferrable initially deferred",
      "alter table channel_item add constraint channel_item_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade deferrable initially deferred",
      "alter table channel_message add constraint channel_message_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade deferrable initially deferred",
      "alter table chat_identity add constraint chat_identity_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade deferrable initially deferred",
      "alter table message_part add constraint message_part_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade deferrable initially deferred",
      "alter table channel_message add constraint channel_message_company_id_message_id_reference foreign key (company_id, message_id) references message (company_id, id) on delete cascade deferrable initially deferred",
      "alter table message_part add constraint message_part_company_id_message_id_reference foreign key (company_id, message_id) references message (company_id, id) on delete cascade deferrable initially deferred",
    ])
      this.addSql(reference)
  }
}
