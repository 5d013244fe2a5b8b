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

const ratings = [
  // A message that answers the question for a rating, on a channel that asks by a message: a number from 1 to 5, alone. It gets no reply of AI.
  `create function note_rating(of_chat uuid, message uuid, at timestamptz) returns boolean language plpgsql as $$
  declare
    given integer := (select substring(btrim(m.text, E' \\t\\n.!') from '^[1-5]$')::integer from message m where m.id = message and m.type = 'Text');
  begin
    if given is null then return false; end if;
    update stretch set updated_at = at, rating = given, rating_text = null
    where ${startedBy("at")} and messenger <> 'widget' and rating_asked_at + interval '72 hours' > at;
    if not found then return false; end if;
    update chat set reply_due_at = null, reply_first_at = null where id = of_chat and turn_id is null;
    return true;
  end $$`,

  `create or replace function note_message(of_chat uuid, message uuid, writer text, person uuid, at timestamptz, under_ai boolean)
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
    if writer <> 'Customer' or note_rating(of_chat, message, at) then return; end if;
    update stretch set updated_at = at, reopened = true
    where ${startedBy("at")} and outcome = 'AI_ALONE' and not reopened and ended_at + interval '72 hours' >= at;
    insert into stretch (id, created_at, updated_at, company_id, chat_id, messenger, assistant_id, is_under_ai, started_at, last_message_at,
      check_at, customer_messages, waiting_since)
    select message, at, at, c.company_id, c.id, c.messenger, c.assistant_id, coalesce(under_ai, c.is_under_ai_control), at, at, at + ${quiet}, 1, at
    from chat c where c.id = of_chat;
  end $$`,

  `create or replace function note_settled_call(call tool_call, calls integer) returns void language plpgsql as $$
  declare
    searched boolean := call.status = 'success'
      and exists (select from assistant_tool t where t.id = call.tool_id and t.is_system and t.name = 'searchKnowledge');
    missed boolean := searched and not coalesce(call.found, call.response -> 'data' <> '[]', true);
  begin
    perform note_call(call.chat_id, call.created_at, calls, (call.status = 'error')::integer, searched::integer, missed::integer);
  end $$`,

  `create or replace function stretch_ended() returns trigger language plpgsql as $$
  begin
    if current_setting('platform.rebuilds_stretches', true) = 'on' then return null; end if;
    insert into event (company_id, chat_id, type, created_at, payload)
    values (new.company_id, new.chat_id, coalesce(tg_argv[0], 'STRETCH_ENDED'), new.updated_at, jsonb_build_object('stretch', jsonb_build_object(
      'id', new.id, 'companyId', new.company_id, 'chatId', new.chat_id, 'messenger', new.messenger, 'assistantId', new.assistant_id,
      'startedAt', new.started_at, 'endedAt', new.ended_at, 'endReason', new.end_reason, 'outcome', new.outcome, 'reopened', new.reopened,
      'messages', jsonb_build_object('customer', new.customer_messages, 'assistant', new.assistant_messages, 'user', new.user_messages),
      'firstAnswerMs', jsonb_build_object('ai', new.ai_answer_ms[1], 'people', new.people_answer_ms[1]),
      'medianAnswerMs', jsonb_build_object('ai', median_ms(new.ai_answer_ms), 'people', median_ms(new.people_answer_ms)),
      'handedOffAt', new.handed_off_at, 'handOffReason', new.hand_off_reason, 'personId', new.person_id, 'returnedAt', new.returned_at,
      'toolCalls', new.tool_calls, 'toolFailures', new.tool_failures, 'knowledgeSearches', new.knowledge_searches,
      'knowledgeMisses', new.knowledge_misses, 'inputTokens', new.input_tokens, 'outputTokens', new.output_tokens,
      'ratingAskedAt', new.rating_asked_at, 'rating', new.rating, 'ratingText', new.rating_text, 'createdAt', new.created_at, 'updatedAt', new.updated_at)));
    return null;
  end $$`,

  `create or replace function rebuild_stretches(of_chat uuid, now_is timestamptz) returns void language plpgsql as $$
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
    update stretch s set rating = r.rating, rating_text = r.rating_text, rating_asked_at = r.rating_asked_at, rating_due_at = r.rating_due_at
    from unnest(before) r
    where num_nonnulls(r.rating, r.rating_asked_at, r.rating_due_at) > 0 and s.chat_id = of_chat and s.started_at <= r.started_at and (s.ended_at is null or s.ended_at >= r.started_at);
    perform set_config('platform.rebuilds_stretches', 'off', true);
  end $$`,

  // Asked is a customer who was answered and does not wait. The widget asks by itself; other channels are due to send a message.
  `create function stretch_asks_rating() returns trigger language plpgsql as $$
  begin
    if new.end_reason in ('QUIET', 'PERSON') and new.assistant_messages + new.user_messages > 0
      and num_nonnulls(new.waiting_since, new.person_due_since) = 0
      and coalesce(current_setting('platform.rebuilds_stretches', true), '') <> 'on'
      and exists (
        select from chat c join channel h on h.company_id = c.company_id and h.messenger = c.messenger and h.external_id = c.from_id
        where c.id = new.chat_id and c.chat_type <> 'group' and h.is_active and h.rating_question is not null
      )
    then
      if new.messenger = 'widget' then new.rating_asked_at = new.updated_at; else new.rating_due_at = new.updated_at; end if;
    end if;
    return new;
  end $$`,
  `create trigger stretch_to_be_rated before update on stretch for each row
    when (old.ended_at is null and new.ended_at is not null) execute function stretch_asks_rating()`,
  `create trigger stretch_rated after update on stretch for each row
    when (new.rating is not null and new.chat_id is not null and (new.rating, new.rating_text) is distinct from (old.rating, old.rating_text))
    execute function stretch_ended('STRETCH_RATED')`,
]

/** Whether a call may be a search that found nothing; one of the version before does not say it. */
const isMissed = (call: string) => `${call}.status = 'success' and num_nonnulls(${call}.chat_id, ${call}.call_id) > 0
      and not coalesce(${call}.found, ${call}.response -> 'data' <> '[]', true)`

const questions = [
  `create function keep_question() returns trigger language plpgsql as $$
  begin
    insert into asked_question (id, created_at, updated_at, company_id, assistant_id, chat_id, call_id, question, asked_at)
    select new.id, new.created_at, new.created_at, new.company_id, t.assistant_id, new.chat_id, new.call_id, btrim(new.params ->> 'query'), new.created_at
    from assistant_tool t where t.id = new.tool_id and t.is_system and t.name = 'searchKnowledge' and btrim(new.params ->> 'query') <> ''
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger question_of_search after insert on tool_call for each row when (${isMissed("new")}) execute function keep_question()`,
  `create trigger question_of_settled_search after update on tool_call for each row
    when (old.status = 'pending' and ${isMissed("new")}) execute function keep_question()`,
]

const references = [
  "alter table asked_question add constraint asked_question_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
  "alter table asked_question add constraint asked_question_company_id_chat_id_reference foreign key (company_id, chat_id) references chat (company_id, id) on delete cascade deferrable initially deferred",
  "alter table asked_question add constraint asked_question_company_id_call_id_reference foreign key (company_id, call_id) references call (company_id, id) on delete cascade deferrable initially deferred",
  "alter table asked_question add constraint asked_question_company_id_assistant_id_reference foreign key (company_id, assistant_id) references assistant (company_id, id) on delete cascade deferrable initially deferred",
  "alter table question_group add constraint question_group_company_id_reference foreign key (company_id) references company (id) on delete cascade deferrable initially deferred",
  "alter table question_group add constraint question_group_company_id_assistant_id_reference foreign key (company_id, assistant_id) references assistant (company_id, id) on delete cascade deferrable initially deferred",
  "alter table asked_question add constraint asked_question_company_id_group_id_reference foreign key (company_id, group_id) references question_group (company_id, id) on delete set null (group_id) deferrable initially deferred",
]

/** Ratings of stretches, and questions to which a search of the knowledge found nothing; both are written by triggers, as the facts of stretches are. */
export class Migration20261125185237_ratings_and_questions extends Migration {
  override name = "Migration20261125185237_ratings_and_questions"

  override up(): void | Promise<void> {
    this.addSql(
      `create table "asked_question" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "assistant_id" uuid not null, "chat_id" uuid null, "call_id" uuid null, "question" text not null, "asked_at" timestamptz(3) not null, "group_id" uuid null, "closed_at" timestamptz(3) null, primary key ("id"));`,
    )
    this.addSql(`create index asked_question_age on asked_question (asked_at);`)
    this.addSql(`create index asked_question_ungrouped on asked_question (asked_at) where group_id is null;`)
    this.addSql(`create index asked_question_group on asked_question (company_id, group_id);`)
    this.addSql(`create index asked_question_open on asked_question (company_id, asked_at) where closed_at is null;`)
    this.addSql(`create index "asked_question_company_id_assistant_id_index" on "asked_question" ("company_id", "assistant_id");`)
    this.addSql(`create index "asked_question_company_id_call_id_index" on "asked_question" ("company_id", "call_id");`)
    this.addSql(`create index "asked_question_company_id_chat_id_index" on "asked_question" ("company_id", "chat_id");`)

    this.addSql(
      `create table "question_group" ("id" uuid not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "company_id" uuid not null, "assistant_id" uuid not null, "embedding_id" text not null, "vector" real[] not null, primary key ("id"));`,
    )
    this.addSql(
      `create index "question_group_company_id_assistant_id_created_at_index" on "question_group" ("company_id", "assistant_id", "created_at");`,
    )
    this.addSql(`alter table "question_group" add constraint "question_group_company_id_id_unique" unique ("company_id", "id");`)

    this.addSql(`alter table "channel" add "rating_question" text null;`)

    this.addSql(`alter table "channel_message" add "choices" jsonb null;`)

    this.addSql(`alter table "stretch" add "rating_due_at" timestamptz(3) null, add "rating_asked_at" timestamptz(3) null;`)
    this.addSql(`create index stretch_rating_due on stretch (rating_due_at) where rating_due_at is not null;`)

    this.addSql(`alter table "tool_call" add "found" boolean null;`)
    for (const each of [...references, ...ratings, ...questions]) this.addSql(each)
  }
}
