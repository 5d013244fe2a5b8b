import { Migration } from "@mikro-orm/migrations"

/** As before, and deletes the month after the day: whose month is being kept meanwhile, its day is locked until then. */
const forgetDays = `create or replace function forget_outcome_days() returns trigger language plpgsql as $$
  declare
    changed stretch := coalesce(new, old);
  begin
    perform pg_advisory_xact_lock_shared(hashtextextended(changed.company_id::text || (changed.started_at at time zone 'UTC')::date::text, 0));
    delete from outcome_day where company_id = changed.company_id and from_at <= changed.started_at
      and from_at > changed.started_at - interval '2 days' and to_at > changed.started_at;
    delete from outcome_month where company_id = changed.company_id and from_at <= changed.started_at and to_at > changed.started_at;
    return null;
  end $$`

/**
 * Kept sums of outcomes by one dimension and of months, and times in the sums of days. The version before can run beside it: days that it keeps are
 * kept again.
 */
export class Migration20261126010309_outcome_dimensions extends Migration {
  override name = "Migration20261126010309_outcome_dimensions"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "outcome_dimension_sum" ("company_id" uuid not null, "time_zone" text not null, "dimension" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text null, "count" int not null, "reopened" boolean not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "rating" int not null, "ratings" int not null, primary key ("company_id", "time_zone", "dimension", "day", "place"));`,
    )

    this.addSql(
      `create table "outcome_dimension_time" ("company_id" uuid not null, "time_zone" text not null, "dimension" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text null, "count" int not null, "is_of_person" boolean not null, "ms" int not null, primary key ("company_id", "time_zone", "dimension", "day", "place"));`,
    )

    this.addSql(
      `create table "outcome_month" ("company_id" uuid not null, "time_zone" text not null, "day" date not null, "from_at" timestamptz(3) not null, "to_at" timestamptz(3) not null, primary key ("company_id", "time_zone", "day"));`,
    )

    this.addSql(
      `create table "outcome_month_sum" ("company_id" uuid not null, "time_zone" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text not null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text not null, "reopened" boolean not null, "count" int not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "rating" int not null, "ratings" int not null, "ai_ms" int[] null, "ai_counts" int[] null, "people_ms" int[] null, "people_counts" int[] null, primary key ("company_id", "time_zone", "day", "place"));`,
    )

    this.addSql(`alter table "outcome_day" add "has_dimensions" boolean not null default false;`)

    this.addSql(
      `alter table "outcome_sum" add "ai_ms" int[] null, add "ai_counts" int[] null, add "people_ms" int[] null, add "people_counts" int[] null;`,
    )
    for (const table of ["outcome_dimension_sum", "outcome_dimension_time", "outcome_month", "outcome_month_sum"])
      this.addSql(
        `alter table ${table} add constraint ${table}_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred`,
      )
    this.addSql(forgetDays)
  }
}
