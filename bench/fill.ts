const phrases = [
  "Hello! Is the blue one still available in size M?",
  "Good afternoon, thank you for writing to us.",
  "Yes, we have it in stock and can send it today.",
  "How long does the delivery take to Lviv, and what does it cost?",
  "Delivery takes one or two days; above 1,500 it is free of charge.",
  "I ordered on Monday and have not received a tracking number yet.",
  "Let me check the order for you, could you tell me its number?",
  "It is 48213, and the phone number ends in 77.",
  "The parcel left our warehouse this morning and should reach you tomorrow.",
  "Great, thanks a lot for the quick answer!",
  "Can I pay on delivery, or is a card the only way?",
  "Both are fine, please choose what is convenient for you.",
  "The jacket is a little small. How can I exchange it?",
  "You can exchange it within 14 days; here is the form to fill in.",
  "Could you book me for a haircut on Friday after five?",
  "We have 17:30 and 18:15 on Friday, which one do you prefer?",
  "18:15 please, and the same master as last time.",
  "Booked: Friday, 18:15. See you then!",
  "Do you work on public holidays?",
  "On holidays we are open from ten to four.",
]

const text = (n: string) => `phrases[1 + (${n}) % 20] || ' ' || phrases[1 + (${n} / 20) % 20]`

/** SQL of an id that sorts by time, as UUID v7 does. */
const idAt = (time: string) =>
  `overlay(gen_random_uuid()::text placing regexp_replace(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0'),
    '(.{8})(.{4})', '\\1-\\2-7') from 1 for 15)::uuid`

/** How many chats a filled database has, and in how many companies. */
export interface Size {
  /** Each has ten messages on average. */
  chats: number
  /** Companies beside the measured one, which share half of the chats; without any the measured one has all. */
  others: number
}

/** The measured company is the one with this name. */
export const measuredCompany = "Northwind Shop"

/** Days over which the chats were opened, from a year ago on, and over which their latest messages are spread, until now. */
const days = { opened: 139, latest: 69 }

/** SQL of the company of a chat, and of its number in it: every second chat belongs to the measured company. */
const placing = (others: number) =>
  others === 0
    ? "each as n, 0 as owned"
    : `case each % 2 when 0 then 1 + each / 2 else 1 + each / 2 / ${others} end as n, case each % 2 when 0 then 0 else 1 + each / 2 % ${others} end as owned`

/** Fills an empty, migrated database with companies, their chats and their messages of a year; every statement is set-based. */
export const filling = ({ chats, others }: Size): string[] => [
  `create temporary table phrase as select array[${phrases.map((each) => `'${each}'`).join(", ")}] as phrases`,
  `create temporary table owner as
   select place, ${idAt("now()")} as id, case place when 0 then '${measuredCompany}' else 'Shop ' || place end as name from generate_series(0, ${others}) place`,
  `insert into company (id, created_at, updated_at, name) select id, now(), now(), name from owner`,
  `insert into assistant (id, created_at, updated_at, company_id, name, prompt, language, text_model_id, excluded_tags)
   select ${idAt("now()")}, now(), now(), owner.id, 'Assistant ' || n, 'You answer customers of a shop.', 'en', gen_random_uuid(), '{}'
   from owner, generate_series(1, 20) n`,
  `insert into chat_folder (id, created_at, updated_at, company_id, name, color)
   select ${idAt("now()")}, now(), now(), owner.id, 'Folder ' || n, '#3366' || lpad(to_hex(n), 2, '0') from owner, generate_series(1, 12) n`,
  `insert into chat_tag (id, created_at, updated_at, company_id, name, color)
   select ${idAt("now()")}, now(), now(), owner.id, 'Tag ' || n, '#8080' || lpad(to_hex(n), 2, '0') from owner, generate_series(1, 40) n`,
  `create temporary table has as
   select place, id, (select array_agg(id order by id) from assistant a where a.company_id = owner.id) as assistants,
     (select array_agg(id order by id) from chat_folder f where f.company_id = owner.id) as folders,
     (select array_agg(id order by id) from chat_tag t where t.company_id = owner.id) as tags
   from owner`,
  // `n` numbers the chats of a company, `each` those of all. Every 20th chat holds 105 messages and the others 5, which makes 10 on average.
  // Recency is independent of age: 7,919 is prime to the number of chats.
  `create temporary table plan as
   select n, owned, ${idAt("opened")} as id, opened, latest, case when n % 20 = 0 then 105 else 5 end as messages
   from (select ${placing(others)},
     now() - interval '1 year' + each * (interval '${days.opened} days' / ${chats}) as opened,
     now() - interval '1 minute' - ((each::bigint * 7919) % ${chats}) * (interval '${days.latest} days' / ${chats}) as latest
     from generate_series(1, ${chats}) each) each_chat`,
  `create temporary table sentence as
   select ${idAt("at")} as id, plan.id as chat, plan.owned, plan.n as number, place, at, (n + place) % 10 = 0 as "isPhoto"
   from plan, generate_series(1, plan.messages) place, lateral (select latest - (messages - place) * interval '40 seconds' as at) timing`,
  `create unique index on sentence (chat, place)`,
  `analyze plan`,
  `analyze sentence`,
  `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, account_name, username, phone_number,
     assistant_id, folder_id, is_under_ai_control, unread_count, last_message_at, last_message_id, last_sequence)
   select plan.id, opened, latest, has.id, (array['telegram-bot', 'instagram', 'whatsapp', 'widget', 'viber-echat', 'gmail'])[1 + n % 6],
     'account-' || n % 6, 'customer-' || n, 'Customer ' || n, 'Northwind', 'customer' || n, '+38050' || lpad(n::text, 7, '0'),
     assistants[1 + n % 20], case when n % 3 > 0 then folders[1 + n % 12] end, n % 4 > 0, case when n % 5 = 0 then 1 + n % 7 else 0 end,
     latest, sentence.id, messages
   from plan join has on has.place = plan.owned join sentence on sentence.chat = plan.id and sentence.place = plan.messages`,
  // Tags are independent of the other columns.
  `insert into chat_tagging (chat_id, tag_id, company_id)
   select plan.id, tags[1 + ((hashint4(n) & 65535) + mark * 13) % 40], has.id
   from plan join has on has.place = owned, generate_series(1, 3) mark where mark <= n % 4`,
  // Without the checks and triggers of each row, which would take ten times as long; what the triggers write is below.
  "set session_replication_role = replica",
  "set work_mem = '512MB'",
  // In order of time, as in a real database.
  `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at, reply_to_message_id)
   select sentence.id, at, at, owner.id, sentence.chat, sentence.place, case sentence.place % 3 when 1 then 'Customer' when 2 then 'Assistant' else 'User' end,
     case when "isPhoto" then 'Photo' else 'Text' end,
     ${text("number + sentence.place * 7")}, case when sentence.place % 3 = 1 then 'customer-' || number else 'account-' || number % 6 end,
     case when sentence.place % 3 = 1 then 'stored' else 'delivered' end, case when sentence.place % 3 <> 1 then at end, quoted.id
   from sentence join owner on owner.place = owned cross join phrase
     left join (select id, chat, place + 2 as reply from sentence) quoted on quoted.chat = sentence.chat and reply = sentence.place and sentence.place % 8 = 0
   order by at`,
  // Every tenth message shows a photo, and every third of those a second one.
  `create temporary table photo as
   select ${idAt("at")} as id, ${idAt("at")} as link, sentence.id as message, owner.id as company, number, position, at
   from sentence join owner on owner.place = owned, generate_series(1, 2) position where "isPhoto" and (position = 1 or (number + sentence.place) % 30 = 0)`,
  `insert into media (id, created_at, updated_at, company_id, filename, mime_type, size, sha256, storage_key)
   select id, at, at, company, 'photo-' || number || '-' || position || '.jpg', 'image/jpeg', 100000 + number,
     encode(sha256(id::text::bytea), 'hex'), company || '/' || id
   from photo order by at`,
  `insert into message_media (id, company_id, message_id, media_id, position)
   select link, company, message, id, position from photo order by at`,
  `insert into media_tally (company_id, bytes) select company_id, sum(size) from media group by company_id`,
  // The messages of a chat are one stretch: a customer's, an assistant's 40 seconds later, a person's, and so on.
  `insert into stretch (id, created_at, updated_at, company_id, chat_id, messenger, assistant_id, is_under_ai, started_at, last_message_at,
     check_at, customer_messages, assistant_messages, user_messages, ai_answer_ms, ended_at, end_reason)
   select first.id, first.at, latest, c.company_id, c.id, c.messenger, c.assistant_id, c.is_under_ai_control, first.at, latest,
     first.at + stretch_quiet(), (messages + 2) / 3, (messages + 1) / 3, messages / 3, array_fill(40000, array[(messages + 1) / 3]),
     case when latest + stretch_quiet() < now() then latest + stretch_quiet() end, case when latest + stretch_quiet() < now() then 'QUIET' end
   from plan join chat c on c.id = plan.id join sentence first on first.chat = plan.id and first.place = 1 order by first.at`,
  "set session_replication_role = origin",
]
