import { Migration } from "@mikro-orm/migrations"

/**
 * A time rounded to one of 24 values in each decade, some 10 percent apart, with two digits; keeps the order of times. One expression without a query
 * in it, so that PostgreSQL inlines it.
 */
const roundedMs = `create function rounded_ms(ms integer) returns integer language sql immutable as $$
    select case when ms < 10 then ms else
      least(round(10 ^ (round(24 * log(ms)) / 24 - floor(round(24 * log(ms)) / 24) + 1)) * 10 ^ (floor(round(24 * log(ms)) / 24) - 1), 2147483647)::integer
    end
  $$`

/**
 * The sums of a day are kept under an exclusive lock of its company and its days in UTC; who changes a stretch has the lock shared. Whichever is
 * first, the other sees what it did: no sum is kept without the change.
 */
const forgetDays = `create function forget_outcome_days() returns trigger language plpgsql as $$
  declare
    changed stretch := coalesce(new, old);
  begin
    perform pg_advisory_xact_lock_shared(hashtextextended(changed.company_id::text || (changed.started_at at time zone 'UTC')::date::text, 0));
    delete from outcome_day where company_id = changed.company_id and from_at <= changed.started_at
      and from_at > changed.started_at - interval '2 days' and to_at > changed.started_at;
    return null;
  end $$`

const triggers = [
  `create trigger stretch_begins_ended after insert on stretch for each row when (new.ended_at is not null) execute function forget_outcome_days()`,
  `create trigger stretch_counts_otherwise after update on stretch for each row
    when (new.ended_at is not null and (old.ended_at is null or old.reopened <> new.reopened or old.rating is distinct from new.rating
      or old.input_tokens <> new.input_tokens or old.output_tokens <> new.output_tokens)) execute function forget_outcome_days()`,
  `create trigger stretch_is_gone after delete on stretch for each row when (old.ended_at is not null) execute function forget_outcome_days()`,
]

/** Sums over stretches for each day, kept for reports over many of them. The version before can run beside it. */
export class Migration20261125154300_outcome_sums extends Migration {
  override name = "Migration20261125154300_outcome_sums"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "outcome_day" ("company_id" uuid not null, "time_zone" text not null, "day" date not null, "from_at" timestamptz(3) not null, "to_at" timestamptz(3) not null, primary key ("company_id", "time_zone", "day"));`,
    )
    this.addSql(`create index "outcome_day_company_id_from_at_index" on "outcome_day" ("company_id", "from_at");`)

    this.addSql(
      `create table "outcome_sum" ("company_id" uuid not null, "time_zone" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text not null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text not null, "reopened" boolean not null, "count" int not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "rating" int not null, "ratings" int not null, primary key ("company_id", "time_zone", "day", "place"));`,
    )

    this.addSql(
      `create table "outcome_time" ("company_id" uuid not null, "time_zone" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text not null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text not null, "reopened" boolean not null, "count" int not null, "is_of_person" boolean not null, "ms" int not null, primary key ("company_id", "time_zone", "day", "place"));`,
    )

    this.addSql(
      `create table "outcome_zone" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "time_zone" text not null, "asked_at" timestamptz(3) not null, primary key ("id"));`,
    )
    this.addSql(`alter table "outcome_zone" add constraint "outcome_zone_company_id_time_zone_unique" unique ("company_id", "time_zone");`)
    for (const table of ["outcome_zone", "outcome_day", "outcome_sum", "outcome_time"])
      this.addSql(
        `alter table ${table} add constraint ${table}_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred`,
      )
    for (const each of [roundedMs, forgetDays, ...triggers]) this.addSql(each)
  }
}
