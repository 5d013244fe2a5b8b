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

/** Fills an empty, migrated database with one company, its chats and their messages; every statement is set-based. */
export const filling = (chats: number): string[] => [
  `create temporary table phrase as select array[${phrases.map((each) => `'${each}'`).join(", ")}] as phrases`,
  `insert into company (id, created_at, updated_at, name)
   select ${idAt("now()")}, now(), now(), 'Northwind Shop'`,
  `insert into assistant (id, created_at, updated_at, company_id, name, prompt, language, text_model_id, excluded_tags)
   select ${idAt("now()")}, now(), now(), company.id, 'Assistant ' || n, 'You answer customers of a shop.', 'en', gen_random_uuid(), '{}'
   from company, generate_series(1, 20) n`,
  `insert into chat_folder (id, created_at, updated_at, company_id, name, color)
   select ${idAt("now()")}, now(), now(), company.id, 'Folder ' || n, '#3366' || lpad(to_hex(n), 2, '0') from company, generate_series(1, 12) n`,
  `insert into chat_tag (id, created_at, updated_at, company_id, name, color)
   select ${idAt("now()")}, now(), now(), company.id, 'Tag ' || n, '#8080' || lpad(to_hex(n), 2, '0') from company, generate_series(1, 40) n`,
  // Every 20th chat holds 105 messages and the others 5, which makes 10 on average.
  // Recency is independent of age: 7,919 is prime to the number of chats.
  `create temporary table plan as
   select n, ${idAt("opened")} as id, opened, latest, case when n % 20 = 0 then 105 else 5 end as messages
   from (select n, now() - interval '1 year' + n * interval '2 minutes' as opened,
     now() - interval '1 minute' - ((n::bigint * 7919) % ${chats}) * interval '1 minute' as latest from generate_series(1, ${chats}) n) each_chat`,
  `create temporary table sentence as
   select ${idAt("at")} as id, plan.id as chat, plan.n as number, place, at, (n + place) % 10 = 0 as "isPhoto"
   from plan, generate_series(1, plan.messages) place, lateral (select latest - (messages - place) * interval '40 seconds' as at) timing`,
  `create unique index on sentence (chat, place)`,
  `analyze plan`,
  `analyze sentence`,
  `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, account_name, username, phone_number,
     assistant_id, folder_id, is_under_ai_control, unread_count, last_message_at, last_message_id, last_sequence)
   select plan.id, opened, latest, company.id, (array['telegram-bot', 'instagram', 'whatsapp', 'widget', 'viber-echat', 'gmail'])[1 + n % 6],
     'account-' || n % 6, 'customer-' || n, 'Customer ' || n, 'Northwind', 'customer' || n, '+38050' || lpad(n::text, 7, '0'),
     assistants[1 + n % 20], case when n % 3 > 0 then folders[1 + n % 12] end, n % 4 > 0, case when n % 5 = 0 then 1 + n % 7 else 0 end,
     latest, sentence.id, messages
   from plan join sentence on sentence.chat = plan.id and sentence.place = plan.messages, company,
     (select array_agg(id order by id) as assistants from assistant) a, (select array_agg(id order by id) as folders from chat_folder) f`,
  // Tags are independent of the other columns.
  `insert into chat_tagging (chat_id, tag_id, company_id)
   select plan.id, tags[1 + ((hashint4(n) & 65535) + mark * 13) % 40], company.id
   from plan, generate_series(1, 3) mark, company, (select array_agg(id order by id) as tags from chat_tag) t where mark <= n % 4`,
  // In order of time, as in a real database.
  `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status, sent_at, reply_to_message_id)
   select sentence.id, at, at, company.id, sentence.chat, place, case place % 3 when 1 then 'Customer' when 2 then 'Assistant' else 'User' end,
     case when "isPhoto" then 'Photo' else 'Text' end,
     ${text("number + place * 7")}, case when place % 3 = 1 then 'customer-' || number else 'account-' || number % 6 end,
     case when place % 3 = 1 then 'stored' else 'delivered' end, case when place % 3 <> 1 then at end, quoted.id
   from sentence join company on true cross join phrase
     left join (select id, chat, place + 2 as reply from sentence) quoted on quoted.chat = sentence.chat and reply = place and place % 8 = 0
   order by at`,
  // Every tenth message shows a photo, and every third of those a second one.
  `create temporary table photo as
   select ${idAt("at")} as id, ${idAt("at")} as link, sentence.id as message, number, position, at
   from sentence, generate_series(1, 2) position where "isPhoto" and (position = 1 or (number + place) % 30 = 0)`,
  `insert into media (id, created_at, updated_at, company_id, filename, mime_type, size, sha256, storage_key)
   select photo.id, at, at, company.id, 'photo-' || number || '-' || position || '.jpg', 'image/jpeg', 100000 + number,
     encode(sha256(photo.id::text::bytea), 'hex'), company.id || '/' || photo.id
   from photo, company order by at`,
  `insert into message_media (id, company_id, message_id, media_id, position)
   select link, company.id, message, photo.id, position from photo, company order by at`,
]
