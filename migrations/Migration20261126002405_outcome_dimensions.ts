import { Migration } from "@mikro-orm/migrations"

/** Kept sums of outcomes by one dimension, for most reports. The version before can run beside it: the days that it keeps are kept again. */
export class Migration20261126002405_outcome_dimensions extends Migration {
  override name = "Migration20261126002405_outcome_dimensions"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "outcome_dimension_sum" ("company_id" uuid not null, "time_zone" text not null, "dimension" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text null, "count" int not null, "reopened" boolean not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "rating" int not null, "ratings" int not null, primary key ("company_id", "time_zone", "dimension", "day", "place"));`,
    )

    this.addSql(
      `create table "outcome_dimension_time" ("company_id" uuid not null, "time_zone" text not null, "dimension" text not null, "day" date not null, "place" int not null, "assistant_id" uuid null, "messenger" text null, "person_id" uuid null, "hand_off_reason" text null, "outcome" text null, "count" int not null, "is_of_person" boolean not null, "ms" int not null, primary key ("company_id", "time_zone", "dimension", "day", "place"));`,
    )

    this.addSql(`alter table "outcome_day" add "has_dimensions" boolean not null default false;`)

    this.addSql(
      `alter table "outcome_sum" add "ai_ms" int[] null, add "ai_counts" int[] null, add "people_ms" int[] null, add "people_counts" int[] null;`,
    )
    for (const table of ["outcome_dimension_sum", "outcome_dimension_time"])
      this.addSql(
        `alter table ${table} add constraint ${table}_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred`,
      )
  }
}
