import { Migration } from "@mikro-orm/migrations"

/** How long nobody has written when a stretch ends. */
const quiet = "(select quiet_hours * interval '1 hour' from stretch_setting)"

/** The open stretch of a chat at a time: after quiet hours there is none, whether or not its end is stored. */
const open = (at: string) => `chat_id = of_chat and ended_at is null and last_message_at + ${quiet} > ${at}`

/** The stretch that a fact belongs to: the last one that had started. */
const startedBy = (at: string) =>
  `id = (select s.id from stretch s where s.chat_id = of_chat and s.started_at <= ${at} order by s.started_at desc limit 1)`

/** Adds the time since the customer began to wait to a list, which has at most 1,000 of them. */
const withAnswer = (list: string, since: string) => `case when ${since} is null or cardinality(${list}) >= 1000 then ${list}
      else ${list} || least(greatest(extract(epoch from at - ${since}) * 1000, 0), 2147483647)::integer end`

/** Why AI was turned off; the version before does not store it. */
const reasonOf = (row: string) => `case when not ${row}.is_under_ai_control then coalesce(${row}.hand_off_reason, case ${row}.actor_kind
        when 'user' then 'person' when 'token' then 'integration' when 'assistant' then 'assistant' else 'failure' end) end`

const functions = [
  `create function end_stretch(of_chat uuid, at timestamptz, why text) returns uuid language sql as $$
    update stretch set updated_at = at, ended_at = least(greatest(at, last_message_at), last_message_at + ${quiet}),
      end_reason = case when last_message_at + ${quiet} <= at then 'QUIET' else why end
    where chat_id = of_chat and ended_at is null returning id
  $$`,

  // `under_ai`: whether AI was on at the time; null reads it from the chat.
  `create function note_message(of_chat uuid, message uuid, writer text, person uuid, at timestamptz, under_ai boolean)
    returns void language plpgsql as $$
  begin
    if writer = 'Customer' then
      update stretch set updated_at = at, last_message_at = greatest(last_message_at, at), customer_messages = customer_messages + 1,
        waiting_since = coalesce(waiting_since, at)
      where ${open("at")};
    elsif writer = 'Assistant' then
      update stretch set updated_at = at, last_message_at = greatest(last_message_at, at), assistant_messages = assistant_messages + 1,
        ai_answer_ms = ${withAnswer("ai_answer_ms", "waiting_since")}, waiting_since = null,
        assistant_id = case when assistant_messages = 0 then coalesce((select c.assistant_id from chat c where c.id = of_chat), assistant_id)
          else assistant_id end
      where ${open("at")};
    else
      update stretch set updated_at = at, last_message_at = greatest(last_message_at, at), user_messages = user_messages + 1,
        people_answer_ms = ${withAnswer("people_answer_ms", "least(waiting_since, person_due_since)")}, waiting_since = null,
        person_due_since = null, person_id = coalesce(person_id, person)
      where ${open("at")};
    end if;
    if found then return; end if;
    perform end_stretch(of_chat, at, 'QUIET');
    if writer <> 'Customer' then return; end if;
    update stretch set updated_at = at, reopened = true
    where ${startedBy("at")} and outcome = 'AI_ALONE' and not reopened and ended_at + interval '72 hours' >= at;
    insert into stretch (id, created_at, updated_at, company_id, chat_id, messenger, assistant_id, is_under_ai, started_at, last_message_at,
      check_at, customer_messages, waiting_since)
    select message, at, at, c.company_id, c.id, c.messenger, c.assistant_id, coalesce(under_ai, c.is_under_ai_control), at, at, at + ${quiet}, 1, at
    from chat c where c.id = of_chat;
  end $$`,

  `create function note_control(of_chat uuid, is_on boolean, why text, person uuid, at timestamptz) returns void language sql as $$
    update stretch set updated_at = at, is_under_ai = is_on,
      handed_off_at = case when is_under_ai and not is_on then coalesce(handed_off_at, at) else handed_off_at end,
      hand_off_reason = case when is_under_ai and not is_on and handed_off_at is null then why else hand_off_reason end,
      person_id = case when why = 'person' then coalesce(person_id, person) else person_id end,
      person_due_since = case when is_on then null when is_under_ai and why in ('assistant', 'failure') then at else person_due_since end,
      returned_at = case when is_on and handed_off_at is not null then coalesce(returned_at, at) else returned_at end
    where ${open("at")}
  $$`,

  `create function note_call(of_chat uuid, at timestamptz, calls integer, failures integer, searches integer, misses integer)
    returns void language sql as $$
    update stretch set tool_calls = tool_calls + calls, tool_failures = tool_failures + failures,
      knowledge_searches = knowledge_searches + searches, knowledge_misses = knowledge_misses + misses
    where ${startedBy("at")}
  $$`,

  `create function note_tokens(of_chat uuid, at timestamptz, input integer, output integer) returns void language sql as $$
    update stretch set input_tokens = input_tokens + input, output_tokens = output_tokens + output where ${startedBy("at")}
  $$`,

  // How a call ended; of a search of the knowledge, whether it found something.
  `create function note_settled_call(call tool_call, calls integer) returns void language plpgsql as $$
  declare
    searched boolean := call.status = 'success'
      and exists (select from assistant_tool t where t.id = call.tool_id and t.is_system and t.name = 'searchKnowledge');
    missed boolean := searched and call.response -> 'data' = '[]';
  begin
    perform note_call(call.chat_id, call.created_at, calls, (call.status = 'error')::integer, searched::integer, missed::integer);
  end $$`,

  `create function median_ms(times integer[]) returns integer language sql immutable as $$
    select floor(percentile_cont(0.5) within group (order by each) + 0.5)::integer from unnest(times) each
  $$`,
]

const triggerFunctions = [
  `create function stretch_gets_message() returns trigger language plpgsql as $$
  begin
    perform note_message(new.chat_id, new.id, new.role, new.author_id, new.created_at, null);
    return null;
  end $$`,

  `create function stretch_gets_control() returns trigger language plpgsql as $$
  begin
    perform note_control(new.chat_id, new.is_under_ai_control, ${reasonOf("new")},
      case when new.actor_kind = 'user' then new.actor_id end, new.created_at);
    return null;
  end $$`,

  `create function stretch_gets_call() returns trigger language plpgsql as $$
  begin
    if new.status = 'pending' then perform note_call(new.chat_id, new.created_at, 1, 0, 0, 0);
    else perform note_settled_call(new, (tg_op = 'INSERT')::integer);
    end if;
    return null;
  end $$`,

  `create function stretch_gets_tokens() returns trigger language plpgsql as $$
  begin
    perform note_tokens(new.chat_id, new.started_at, coalesce(new.input_tokens, 0) - coalesce(old.input_tokens, 0),
      coalesce(new.output_tokens, 0) - coalesce(old.output_tokens, 0));
    return null;
  end $$`,

  // What is stored of it is its REST representation, as of every event with a row; a test compares both.
  `create function stretch_ended() returns trigger language plpgsql as $$
  begin
    if current_setting('platform.rebuilds_stretches', true) = 'on' then return null; end if;
    insert into event (company_id, chat_id, type, created_at, payload)
    values (new.company_id, new.chat_id, 'STRETCH_ENDED', new.updated_at, jsonb_build_object('stretch', jsonb_build_object(
      'id', new.id, 'companyId', new.company_id, 'chatId', new.chat_id, 'messenger', new.messenger, 'assistantId', new.assistant_id,
      'startedAt', new.started_at, 'endedAt', new.ended_at, 'endReason', new.end_reason, 'outcome', new.outcome, 'reopened', new.reopened,
      'messages', jsonb_build_object('customer', new.customer_messages, 'assistant', new.assistant_messages, 'user', new.user_messages),
      'firstAnswerMs', jsonb_build_object('ai', new.ai_answer_ms[1], 'people', new.people_answer_ms[1]),
      'medianAnswerMs', jsonb_build_object('ai', median_ms(new.ai_answer_ms), 'people', median_ms(new.people_answer_ms)),
      'handedOffAt', new.handed_off_at, 'handOffReason', new.hand_off_reason, 'personId', new.person_id, 'returnedAt', new.returned_at,
      'toolCalls', new.tool_calls, 'toolFailures', new.tool_failures, 'knowledgeSearches', new.knowledge_searches,
      'knowledgeMisses', new.knowledge_misses, 'inputTokens', new.input_tokens, 'outputTokens', new.output_tokens,
      'rating', new.rating, 'ratingText', new.rating_text, 'createdAt', new.created_at, 'updatedAt', new.updated_at)));
    return null;
  end $$`,

  // An open stretch ends with its chat, whoever deletes it: the version before does not end it first.
  `create function stretch_loses_its_chat() returns trigger language plpgsql as $$
  begin
    new.rating_text = null;
    if new.ended_at is null then
      new.updated_at = now();
      new.ended_at = least(greatest(now(), new.last_message_at), new.last_message_at + ${quiet});
      new.end_reason = 'CHAT_DELETED';
    end if;
    return new;
  end $$`,
]

const triggers = [
  `create trigger stretch_of_message after insert on message for each row
    when (new.chat_id is not null and new.role <> 'System' and new.type not in ('FunctionCall', 'FunctionCallOutput'))
    execute function stretch_gets_message()`,
  "create trigger stretch_of_control after insert on control_change for each row execute function stretch_gets_control()",
  "create trigger stretch_of_call after insert on tool_call for each row when (new.chat_id is not null) execute function stretch_gets_call()",
  `create trigger stretch_of_settled_call after update on tool_call for each row
    when (old.status = 'pending' and new.status <> 'pending' and new.chat_id is not null) execute function stretch_gets_call()`,
  `create trigger stretch_of_turn after update on assistant_turn for each row
    when (old.input_tokens is distinct from new.input_tokens or old.output_tokens is distinct from new.output_tokens)
    execute function stretch_gets_tokens()`,
  `create trigger stretch_has_ended after update on stretch for each row
    when (old.ended_at is null and new.ended_at is not null) execute function stretch_ended()`,
  `create trigger stretch_lost_its_chat before update on stretch for each row
    when (old.chat_id is not null and new.chat_id is null) execute function stretch_loses_its_chat()`,
]

/**
 * Makes the stretches of a chat again, of all that is stored about it and of the ends by people, by the functions that its triggers call; without
 * events. The assistant
 * is the one of the chat now; whether AI was on before the first change of AI control follows from that change.
 */
const rebuild = `create function rebuild_stretches(of_chat uuid, now_is timestamptz) returns void language plpgsql as $$
  declare
    fact record;
    before stretch[];
    under_ai boolean;
  begin
    select is_under_ai_control into under_ai from chat where id = of_chat for no key update;
    if not found then return; end if;
    perform set_config('platform.rebuilds_stretches', 'on', true);
    select array_agg(s) into before from stretch s where chat_id = of_chat;
    delete from stretch where chat_id = of_chat;
    under_ai := coalesce((select not is_under_ai_control from control_change where chat_id = of_chat order by created_at, id limit 1), under_ai);
    for fact in
      select created_at as at, 1 as kind, sequence as place, id, role as word, author_id as person, false as is_on, 0 as input, 0 as output
      from message where chat_id = of_chat and role <> 'System' and type not in ('FunctionCall', 'FunctionCallOutput')
      union all
      select created_at, 2, 0, id,
        ${reasonOf("control_change")},
        case when actor_kind = 'user' then actor_id end, is_under_ai_control, 0, 0
      from control_change where chat_id = of_chat
      union all
      select created_at, 3, 0, id, status, null, false, 0, 0 from tool_call where chat_id = of_chat
      union all
      select started_at, 4, 0, id, null, null, false, coalesce(input_tokens, 0), coalesce(output_tokens, 0)
      from assistant_turn where chat_id = of_chat
      union all
      select ended_at, 5, 0, id, end_reason, null, false, 0, 0 from unnest(before) where end_reason = 'PERSON'
      order by at, kind, place, id
    loop
      case fact.kind
        when 1 then perform note_message(of_chat, fact.id, fact.word, fact.person, fact.at, under_ai);
        when 2 then
          perform note_control(of_chat, fact.is_on, fact.word, fact.person, fact.at);
          under_ai := fact.is_on;
        when 3 then
          if fact.word = 'pending' then perform note_call(of_chat, fact.at, 1, 0, 0, 0);
          else perform note_settled_call(call, 1) from tool_call call where id = fact.id;
          end if;
        when 4 then perform note_tokens(of_chat, fact.at, fact.input, fact.output);
        else perform end_stretch(of_chat, fact.at, fact.word);
      end case;
    end loop;
    perform end_stretch(of_chat, now_is, 'QUIET') from stretch where chat_id = of_chat and ended_at is null and last_message_at + ${quiet} <= now_is;
    update stretch s set rating = r.rating, rating_text = r.rating_text from unnest(before) r
    where r.rating is not null and s.chat_id = of_chat and s.started_at <= r.started_at and (s.ended_at is null or s.ended_at >= r.started_at);
    perform set_config('platform.rebuilds_stretches', 'off', true);
  end $$`

/**
 * Stretches of chats with their facts, which triggers write: the version before can run beside it. Chats that exist get theirs by a sweep, in the
 * background (`rebuild_stretches`).
 */
export class Migration20261125152244_stretches extends Migration {
  override name = "Migration20261125152244_stretches"

  override up(): void | Promise<void> {
    this.addSql(`create table "stretch" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "chat_id" uuid null, "messenger" text not null, "assistant_id" uuid null, "started_at" timestamptz(3) not null, "ended_at" timestamptz(3) null, "end_reason" text null, "outcome" text generated always as (case when ended_at is null then null when assistant_messages > 0 and user_messages = 0 then 'AI_ALONE'
  when assistant_messages > 0 then 'AI_THEN_PERSON' when user_messages > 0 then 'PERSON_ALONE' else 'UNANSWERED' end) stored null, "reopened" boolean not null default false, "last_message_at" timestamptz(3) not null, "check_at" timestamptz(3) not null, "customer_messages" int not null default 0, "assistant_messages" int not null default 0, "user_messages" int not null default 0, "waiting_since" timestamptz(3) null, "person_due_since" timestamptz(3) null, "ai_answer_ms" int[] not null default '{}', "people_answer_ms" int[] not null default '{}', "is_under_ai" boolean not null, "handed_off_at" timestamptz(3) null, "hand_off_reason" text null, "person_id" uuid null, "returned_at" timestamptz(3) null, "tool_calls" int not null default 0, "tool_failures" int not null default 0, "knowledge_searches" int not null default 0, "knowledge_misses" int not null default 0, "input_tokens" int not null default 0, "output_tokens" int not null default 0, "rating" smallint null, "rating_text" text null, primary key ("id"));`)
    this.addSql(`create index stretch_check on stretch (check_at) where ended_at is null;`)
    this.addSql(`create unique index stretch_open on stretch (chat_id) where ended_at is null and chat_id is not null;`)
    this.addSql(`create index stretch_of_chat on stretch (chat_id, started_at desc) where chat_id is not null;`)
    this.addSql(`create index stretch_newest on stretch (company_id, started_at desc, id desc);`)

    this.addSql(
      `create table "stretch_setting" ("id" int not null, "quiet_hours" double precision not null, "rebuilt_to" uuid not null, "rebuild_until" uuid not null, primary key ("id"));`,
    )

    this.addSql(`alter table "control_change" add "hand_off_reason" text null;`)
    // What is updated with each message stays on its page.
    this.addSql("alter table stretch set (fillfactor = 70)")
    for (const reference of [
      "alter table stretch add constraint stretch_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
      "alter table stretch add constraint stretch_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete set null (chat_id) deferrable initially deferred",
    ])
      this.addSql(reference)
    this.addSql(
      `insert into stretch_setting values (1, 24, '00000000-0000-0000-0000-000000000000',
        coalesce((select id from chat order by id desc limit 1), '00000000-0000-0000-0000-000000000000'))`,
    )
    for (const each of [...functions, ...triggerFunctions, rebuild, ...triggers]) this.addSql(each)
  }
}
