import { Migration } from "@mikro-orm/migrations"
import { systemTools } from "../src/entities/kit/system-tools.js"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["assistant_tool", "company_id, assistant_id", "assistant", "company_id, id", "cascade"],
  ["tool_call", "company_id, tool_id", "assistant_tool", "company_id, id", "cascade"],
  ["tool_call", "company_id, chat_id", "chat", "company_id, id", "set null (chat_id)"],
  ["tool_call_tally", "company_id, tool_id", "assistant_tool", "company_id, id", "cascade"],
]

/** Tools of assistants, the log of their calls, and the sums over it. */
export class Migration20261121100000_tools extends Migration {
  override name = "Migration20261121100000_tools"

  override up() {
    this.addSql(
      `create table "assistant_tool" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "assistant_id" uuid not null, "name" text not null, "description" text not null, "params" jsonb not null, "type" text not null default 'webhook_action', "api_call_url" text null, "http_method" text null default 'POST', "timeout_seconds" int not null default 10, "sealed_secret" text null, "disabled" boolean not null default false, "is_system" boolean not null default false, primary key ("id"))`,
    )
    this.addSql('create index "assistant_tool_company_id_created_at_index" on "assistant_tool" ("company_id", "created_at")')
    this.addSql('alter table "assistant_tool" add constraint "assistant_tool_name_unique" unique ("assistant_id", "name")')
    this.addSql('alter table "assistant_tool" add constraint "assistant_tool_company_id_id_unique" unique ("company_id", "id")')
    this.addSql(
      `create table "tool_call" ("id" uuid not null, "company_id" uuid not null, "tool_id" uuid not null, "chat_id" uuid null, "call_id" uuid null, "turn_id" uuid null, "params" jsonb not null, "response" jsonb null, "response_status" int null, "success" boolean not null default false, "status" text not null default 'pending', "latency_ms" int null, "error" text null, "created_at" timestamptz(3) not null, primary key ("id"))`,
    )
    this.addSql("create index tool_call_chat on tool_call (chat_id) where chat_id is not null")
    this.addSql("create index tool_call_turn on tool_call (turn_id) where turn_id is not null")
    this.addSql("create index tool_call_newest on tool_call (tool_id, created_at desc, id desc)")
    this.addSql('alter table "tool_call" add constraint "tool_call_company_id_id_unique" unique ("company_id", "id")')
    this.addSql(
      `create table "tool_call_tally" ("tool_id" uuid not null, "company_id" uuid not null, "total" int not null default 0, "success" int not null default 0, "error" int not null default 0, "latency_ms" bigint not null default '0', "timed" int not null default 0, primary key ("tool_id"))`,
    )
    for (const [table, columns, target, targetColumns, onDelete] of references) {
      const name = `${table}_${columns.replaceAll(", ", "_")}_reference`
      this.addSql(
        `alter table ${table} add constraint ${name} foreign key (${columns}) references ${target} (${targetColumns}) on delete ${onDelete} deferrable initially deferred`,
      )
    }
    this.tallyCalls()
    this.equipOldAssistants()
  }

  /** The database counts: no code that writes or settles a call can forget it, and reading the sums costs one row. */
  private tallyCalls() {
    this.addSql(`
      create function tally_tool_call() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' and (old.status <> 'pending' or new.status = 'pending') then return null; end if;
        insert into tool_call_tally as tally (tool_id, company_id, total, success, error, latency_ms, timed)
        values (new.tool_id, new.company_id, (tg_op = 'INSERT')::int, (new.status = 'success')::int, (new.status = 'error')::int,
          coalesce(new.latency_ms, 0), (new.latency_ms is not null)::int)
        on conflict (tool_id) do update set total = tally.total + excluded.total, success = tally.success + excluded.success,
          error = tally.error + excluded.error, latency_ms = tally.latency_ms + excluded.latency_ms, timed = tally.timed + excluded.timed;
        return null;
      end $$`)
    this.addSql("create trigger tool_call_tallied after insert or update on tool_call for each row execute function tally_tool_call()")
  }

  /** Assistants from before get the tools that every new one is created with. */
  private equipOldAssistants() {
    for (const { name, description, type, params } of systemTools) {
      const [what, schema] = [description, JSON.stringify(params)].map((text) => text.replaceAll("'", "''"))
      this.addSql(`
        insert into assistant_tool (id, created_at, updated_at, company_id, assistant_id, name, description, params, type, http_method, is_system)
        select gen_random_uuid(), now(), now(), company_id, id, '${name}', '${what}', '${schema}', '${type}', null, true from assistant`)
    }
  }
}
