import { Migration } from "@mikro-orm/migrations"

/** Unanswered questions of a period are listed with those that were closed. The version before can run beside it. */
export class Migration20261127014432_asked_questions_of_a_period extends Migration {
  override name = "Migration20261127014432_asked_questions_of_a_period"

  override up(): void | Promise<void> {
    this.addSql(`drop index "asked_question_open";`)
    this.addSql(`create index "asked_question_company_id_asked_at_index" on "asked_question" ("company_id", "asked_at");`)
  }
}
