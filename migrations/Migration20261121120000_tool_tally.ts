import { Migration } from "@mikro-orm/migrations"

/** What a statement adds to the sums over the calls of each tool, in the order of their ids: the rows are locked in that order. */
const add = (counted: string) => `
  insert into tool_call_tally as tally (tool_id, company_id, total, success, error, latency_ms, timed)
  select tool_id, company_id, sum(new_call), count(*) filter (where status = 'success'), count(*) filter (where status = 'error'),
    coalesce(sum(latency_ms), 0), count(latency_ms)
  from (${counted}) counted group by tool_id, company_id order by tool_id
  on conflict (tool_id) do update set total = tally.total + excluded.total, success = tally.success + excluded.success,
    error = tally.error + excluded.error, latency_ms = tally.latency_ms + excluded.latency_ms, timed = tally.timed + excluded.timed`

/** The sums over the log of a tool, counted once per statement and under locks in one order; and the log of one outcome, by an index. */
export class Migration20261121120000_tool_tally extends Migration {
  override name = "Migration20261121120000_tool_tally"

  override up() {
    this.addSql("drop trigger tool_call_tallied on tool_call")
    this.addSql("drop function tally_tool_call()")
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
    this.addSql("create index tool_call_outcome on tool_call (tool_id, status, created_at desc, id desc)")
  }
}
