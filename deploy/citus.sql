-- Distributes the tables of a database over the machines of a Citus cluster, by company (docs/citus.md says when, and what is not ready).
-- Run it once, on the coordinator, with all servers stopped: psql -v ON_ERROR_STOP=1 --single-transaction -f deploy/citus.sql

-- Triggers write rows of their own company only, which are on the same machine.
set local citus.enable_unsafe_triggers = on;
-- Distributed and reference tables are made in one transaction.
set local citus.multi_shard_modify_mode = 'sequential';

create temporary table placement (name text primary key, is_distributed boolean not null) on commit drop;

-- Reference tables, which every machine has: few rows, or read without a company.
insert into placement select unnest(array[
  'company', 'users', 'member', 'subscription', 'access_token', 'assistant_folder', 'assistant', 'channel', 'event_webhook'
]), false;

-- Every other table of companies is distributed. The others stay on the coordinator: event_log, event_fan_out, idempotency_key, session,
-- refresh_token, sign_in_attempt, write_position, call_report, stretch_setting, and those of migrations and of Agenda.
insert into placement select unnest(array[
  'asked_question', 'assistant_tool', 'assistant_turn', 'audit_entry', 'call', 'channel_item', 'channel_message', 'chat', 'chat_count',
  'chat_count_change', 'chat_folder', 'chat_identity', 'chat_tag', 'chat_tagging', 'control_change', 'event', 'event_delivery',
  'guardrail_hit', 'knowledge', 'knowledge_chunk', 'mcp_server', 'mcp_tool', 'media', 'media_tally', 'message', 'message_media',
  'message_part', 'outcome_day', 'outcome_dimension_sum', 'outcome_dimension_time', 'outcome_month', 'outcome_month_sum', 'outcome_sum',
  'outcome_time', 'outcome_zone', 'question_group', 'stretch', 'tool_call', 'tool_call_tally'
]), true;

-- Foreign keys are made again at the end, because a reference from a table that is not distributed yet is refused.
create temporary table reference on commit drop as
  select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace;

do $$
declare each record;
begin
  for each in select * from reference loop
    execute format('alter table %s drop constraint %I', each.name, each.conname);
  end loop;
end $$;

-- A unique key of a distributed table must contain its column of distribution: the company is added as the last column.
do $$
declare each record;
begin
  for each in
    select placement.name, keys.relname as index, x.indisprimary, pg_get_indexdef(x.indexrelid) as definition,
      exists (select from pg_constraint c where c.conindid = x.indexrelid) as is_constraint
    from placement join pg_index x on x.indrelid = placement.name::regclass join pg_class keys on keys.oid = x.indexrelid
    where is_distributed and x.indisunique and not exists (
      select from pg_attribute a where a.attrelid = x.indrelid and a.attname = 'company_id' and a.attnum = any (x.indkey::smallint[]))
  loop
    if each.is_constraint then execute format('alter table %I drop constraint %I', each.name, each.index);
    else execute format('drop index %I', each.index);
    end if;
    execute regexp_replace(each.definition, 'USING btree \(([^()]*)\)', 'USING btree (\1, company_id)');
    if each.indisprimary then execute format('alter table %I add primary key using index %I', each.name, each.index);
    end if;
  end loop;
end $$;

-- Citus has no triggers for each statement on distributed tables: these are for each row.
drop trigger media_arrived on media;
drop trigger media_removed on media;
drop function tally_media;

create function tally_file() returns trigger language plpgsql as $$
declare
  changed media := coalesce(new, old);
begin
  insert into media_tally as tally (company_id, bytes) values (changed.company_id, case tg_op when 'INSERT' then changed.size else -changed.size end)
  on conflict (company_id) do update set bytes = tally.bytes + excluded.bytes;
  return null;
end $$;
create trigger media_counted after insert or delete on media for each row execute function tally_file();

drop trigger tool_calls_noted on tool_call;
drop trigger tool_calls_settled on tool_call;
drop function tally_noted_tool_calls;
drop function tally_settled_tool_calls;

-- The tool comes before its sums, as it does when it is deleted, so that the two do not wait for each other.
create function tally_tool_call() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform 1 from assistant_tool where company_id = new.company_id and id = new.tool_id for key share;
  end if;
  insert into tool_call_tally as tally (tool_id, company_id, total, success, error, latency_ms, timed)
  values (new.tool_id, new.company_id, (tg_op = 'INSERT')::integer, (new.status = 'success')::integer, (new.status = 'error')::integer,
    coalesce(new.latency_ms, 0), (new.latency_ms is not null)::integer)
  on conflict (tool_id, company_id) do update set total = tally.total + excluded.total, success = tally.success + excluded.success,
    error = tally.error + excluded.error, latency_ms = tally.latency_ms + excluded.latency_ms, timed = tally.timed + excluded.timed;
  return null;
end $$;
create trigger tool_call_noted after insert on tool_call for each row execute function tally_tool_call();
create trigger tool_call_settled after update of status on tool_call for each row when (old.status = 'pending' and new.status <> 'pending')
  execute function tally_tool_call();

-- Tables with the same type of column are distributed alike: all rows of a company are on one machine.
select create_reference_table(name::regclass) from placement where not is_distributed order by name;
select create_distributed_table(name::regclass, 'company_id') from placement where is_distributed order by name;

do $$
declare each record;
begin
  for each in select * from reference loop
    execute format('alter table %s add constraint %I %s', each.name, each.conname, each.definition);
  end loop;
end $$;
