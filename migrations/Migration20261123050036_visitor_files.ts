import { Migration } from "@mikro-orm/migrations"

/** The visitor who uploaded a file. The version before can run beside it: it takes no files of visitors. */
export class Migration20261123050036_visitor_files extends Migration {
  override name = "Migration20261123050036_visitor_files"

  override up(): void | Promise<void> {
    this.addSql(`alter table "media" add "visitor_chat_id" uuid null;`)
    this.addSql(`create index media_of_visitor on media (company_id, visitor_chat_id, created_at) where visitor_chat_id is not null;`)
    this.addSql(
      "alter table media add constraint media_company_id_visitor_chat_id_reference foreign key (company_id, visitor_chat_id) references chat (company_id, id) on delete set null (visitor_chat_id) deferrable initially deferred",
    )
  }
}
