import { Migration } from "@mikro-orm/migrations"

/** Table, its columns, the table they point to with its columns, and what a deletion there does. */
const references: [string, string, string, string, string][] = [
  ["assistant_tool", "company_id, assistant_id", "assistant", "company_id, id", "cascade"],
  ["tool_call", "company_id, tool_id", "assistant_tool", "company_id, id", "cascade"],
  ["tool_call", "company_id, chat_id", "chat", "company_id, id", "set null (chat_id)"],
  ["tool_call_tally", "company_id, tool_id", "assistant_tool", "company_id, id", "cascade"],
]

/** What a statement adds to the sums over the calls of each tool, in the order of their ids: the rows are locked in that order. */
const add = (counted: string) => `
  insert into tool_call_tally as tally (tool_id, company_id, total, success, error, latency_ms, timed)
  select tool_id, company_id, sum(new_call), count(*) filter (where status = 'success'), count(*) filter (where status = 'error'),
    coalesce(sum(latency_ms), 0), count(latency_ms)
  from (${counted}) counted group by tool_id, company_id order by tool_id
  on conflict (tool_id) do update set total = tally.total + excluded.total, success = tally.success + excluded.success,
    error = tally.error + excluded.error, latency_ms = tally.latency_ms + excluded.latency_ms, timed = tally.timed + excluded.timed`

/** The tools that assistants were created with when this was written: name, type, description, arguments. */
const systemTools: [string, string, string, object][] = [
  [
    "turnOffAiMode",
    "webhook_action",
    "Hand this chat over to a human colleague, when the customer asks for one or when you cannot help. You will not answer until the chat is given back to you.",
    { type: "object", properties: { reason: { type: "string", description: "Why a person is needed, in one sentence." } } },
  ],
  [
    "searchKnowledge",
    "webhook_action",
    "Search your indexed knowledge for passages about a question. Use it before you say that you do not know, and answer from what it finds alone.",
    {
      type: "object",
      properties: { query: { type: "string", description: "What to look for, in the words of the question.", minLength: 1 } },
      required: ["query"],
    },
  ],
  [
    "setChatTags",
    "webhook_action",
    "Attach tags of the company's dictionary to this chat, so that colleagues find it. Only tags that exist can be attached.",
    {
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" }, minItems: 1, description: "Names of the tags." } },
      required: ["tags"],
    },
  ],
  [
    "platformPostCall",
    "webhook_postcall",
    "Takes the result of a call after it has ended, for the call history.",
    { type: "object", properties: {} },
  ],
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
    this.addSql("create index tool_call_outcome on tool_call (tool_id, status, created_at desc, id desc)")
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

  /** The database counts, once per statement and under locks in one order: no code that writes or settles a call can forget it. */
  private tallyCalls() {
    // The tool comes before its sums, as it does for whoever deletes it. The reference alone would lock it at the commit, after them: a
    // call that is noted and a tool that is deleted would wait for each other.
    this.addSql(`
      create function tally_noted_tool_calls() returns trigger language plpgsql as $$
      begin
        perform 1 from assistant_tool where id in (select tool_id from noted) order by id for key share;
        ${add("select tool_id, company_id, status, latency_ms, 1 as new_call from noted")};
        return null;
      end $$`)
    this.addSql(`
      create function tally_settled_tool_calls() returns trigger language plpgsql as $$
      begin
        ${add(`select now_is.tool_id, now_is.company_id, now_is.status, now_is.latency_ms, 0 as new_call
          from now_is join was using (id) where was.status = 'pending' and now_is.status <> 'pending'`)};
        return null;
      end $$`)
    this.addSql(
      "create trigger tool_calls_noted after insert on tool_call referencing new table as noted for each statement execute function tally_noted_tool_calls()",
    )
    this.addSql(
      "create trigger tool_calls_settled after update on tool_call referencing old table as was new table as now_is for each statement execute function tally_settled_tool_calls()",
    )
  }

  /** Assistants from before get the tools that every new one is created with. */
  private equipOldAssistants() {
    for (const [name, type, description, params] of systemTools) {
      const [what, schema] = [description, JSON.stringify(params)].map((text) => text.replaceAll("'", "''"))
      this.addSql(`
        insert into assistant_tool (id, created_at, updated_at, company_id, assistant_id, name, description, params, type, http_method, is_system)
        select gen_random_uuid(), now(), now(), company_id, id, '${name}', '${what}', '${schema}', '${type}', null, true from assistant`)
    }
  }
}
