import { Migration } from "@mikro-orm/migrations"

/**
 * MCP servers of companies, their tools, and which of them an assistant may use. The version before can run beside it: its assistants do not
 * use these tools.
 */
export class Migration20261125112639_mcp_servers extends Migration {
  override name = "Migration20261125112639_mcp_servers"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "mcp_server" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "name" text not null, "url" text not null, "sealed_credentials" text null, "status" text not null, "reason" text null, "refreshed_at" timestamptz(3) null, "protocol" jsonb null, "refresh_due_at" timestamptz(3) null, "refresh_id" uuid null, "refresh_lease_until" timestamptz(3) null, "refresh_failures" int not null default 0, primary key ("id"));`,
    )
    this.addSql(`create index mcp_server_lease on mcp_server (refresh_lease_until) where refresh_lease_until is not null;`)
    this.addSql(`create index mcp_server_due on mcp_server (refresh_due_at) where refresh_due_at is not null;`)
    this.addSql(`create index "mcp_server_company_id_created_at_index" on "mcp_server" ("company_id", "created_at");`)
    this.addSql(`alter table "mcp_server" add constraint "mcp_server_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(
      `create table "mcp_tool" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "server_id" uuid not null, "name" text not null, "title" text null, "description" text not null, "input_schema" jsonb not null, "fault" text null, "is_gone" boolean not null default false, "digest" text not null, primary key ("id"));`,
    )
    this.addSql(`alter table "mcp_tool" add constraint "mcp_tool_name_unique" unique ("server_id", "name");`)
    this.addSql(`alter table "mcp_tool" add constraint "mcp_tool_company_id_id_unique" unique ("company_id", "id");`)

    // A migration before this one may have inserted tools in the same transaction; their references are checked now, not at its end.
    this.addSql("set constraints all immediate;")
    this.addSql("set constraints all deferred;")
    this.addSql(
      `alter table "assistant_tool" add "mcp_server_id" uuid null, add "mcp_tool_name" text null, add "mcp_digest" text null, add "mcp_state" text null;`,
    )
    this.addSql(
      `create unique index assistant_tool_mcp on assistant_tool (mcp_server_id, mcp_tool_name, assistant_id) where mcp_server_id is not null;`,
    )
    for (const reference of [
      "alter table mcp_server add constraint mcp_server_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table mcp_tool add constraint mcp_tool_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table mcp_tool add constraint mcp_tool_company_id_server_id_reference foreign key (company_id, server_id) references mcp_server (company_id, id) on delete cascade deferrable initially deferred",
      "alter table assistant_tool add constraint assistant_tool_company_id_mcp_server_id_reference foreign key (company_id, mcp_server_id) references mcp_server (company_id, id) on delete cascade deferrable initially deferred",
    ])
      this.addSql(reference)
  }
}
