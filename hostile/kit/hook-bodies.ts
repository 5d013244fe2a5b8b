import fc, { type Arbitrary } from "fast-check"
import { withHostile } from "./hostile-values.js"
import type { SigningMessenger } from "./messengers.js"
import { Ref } from "./pools.js"

/** Few of them, so that messages are repeated, edited, quoted and reported, and chats are known; some of many, whose edits and reports come early. */
const number = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 40 }), weight: 9 },
  { arbitrary: fc.integer({ min: 41, max: 2_000 }), weight: 1 },
)
const numbered = (prefix: string) => number.map((n) => `${prefix}${n}`)
const words = fc.oneof(
  number.map((n) => `Hello ${n}`),
  fc.constantFrom("", " ", "Де моє замовлення? 🙂", "x".repeat(5_000)),
)
const some = <T>(value: Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const place = fc.constantFrom([50.45, 30.52], [-90, 180])

/** The account to which a messenger's events belong. */
const accountOf = (messenger: SigningMessenger) =>
  fc.oneof({ arbitrary: fc.constant(new Ref(`account of ${messenger}`, 0)), weight: 9 }, { arbitrary: number, weight: 1 })

/** An item that is valid or has hostile values; those of a request reach only some levels deep. */
const item = <T>(valid: Arbitrary<T>) => fc.oneof({ arbitrary: valid, weight: 3 }, { arbitrary: withHostile(valid), weight: 6 })

/** A request with such items, whose frame may be hostile too. */
const request = <T>(valid: Arbitrary<T>) => fc.oneof({ arbitrary: valid, weight: 6 }, { arbitrary: withHostile(valid), weight: 3 })

const items = <T>(one: Arbitrary<T>) => fc.array(item(one), { minLength: 1, maxLength: 3 })

const telegramChat = fc.record({
  id: number,
  type: fc.constantFrom("private", "private", "private", "group", "channel"),
  first_name: some(words),
  title: some(words),
  username: some(numbered("user")),
})
const telegramFile = fc.record({ file_id: numbered("file-"), file_name: some(words) })
const telegramContent = fc.oneof(
  fc.record({ text: words }),
  fc.record({ text: words }),
  fc.record({ photo: fc.array(telegramFile, { minLength: 1, maxLength: 3 }), caption: some(words) }),
  fc.record({ document: telegramFile }),
  fc.record({ sticker: telegramFile.map((file) => ({ ...file, emoji: "👍" })) }),
  place.map(([latitude, longitude]) => ({ location: { latitude, longitude } })),
  fc.record({ contact: fc.record({ phone_number: numbered("38044"), first_name: words, user_id: some(number) }) }),
  fc.record({ poll: fc.record({ id: numbered("p"), question: words }) }),
  fc.record({ migrate_to_chat_id: number }),
)
const telegramMessage = fc
  .tuple(
    fc.record({
      message_id: number,
      date: number,
      chat: telegramChat,
      from: some(fc.record({ id: number, is_bot: some(fc.boolean()), first_name: words })),
      reply_to_message: some(fc.record({ message_id: number })),
      edit_date: some(number),
    }),
    telegramContent,
  )
  .map(([fields, content]) => ({ ...fields, ...content }))
const telegram = fc.oneof(
  { arbitrary: fc.record({ update_id: number, message: telegramMessage }), weight: 6 },
  { arbitrary: fc.record({ update_id: number, edited_message: telegramMessage }), weight: 3 },
  {
    arbitrary: fc.record({
      update_id: number,
      callback_query: fc.record({
        id: numbered("c"),
        from: fc.record({ id: number, first_name: words }),
        data: words,
        message: telegramMessage,
      }),
    }),
    weight: 1,
  },
)

const phone = numbered("3804400000")
const person = numbered("UA.")
const whatsappContent = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.record({ body: words }) }),
  fc.record({ type: fc.constant("text"), text: fc.record({ body: words }) }),
  fc.record({ type: fc.constant("image"), image: fc.record({ id: numbered("media-"), caption: some(words) }) }),
  fc.record({ type: fc.constant("document"), document: fc.record({ id: numbered("media-"), filename: words }) }),
  place.map(([latitude, longitude]) => ({ type: "location", location: { latitude, longitude, name: "Kyiv" } })),
  fc.record({
    type: fc.constant("contacts"),
    contacts: fc.array(fc.record({ name: fc.record({ formatted_name: words }) }), { maxLength: 2 }),
  }),
  fc.record({
    type: fc.constant("edit"),
    edit: fc.record({
      original_message_id: numbered("wamid."),
      message: fc.record({ type: fc.constant("text"), text: fc.record({ body: words }) }),
    }),
  }),
  fc.record({ type: fc.constant("revoke"), revoke: fc.record({ original_message_id: numbered("wamid.") }) }),
  fc.record({ type: fc.constant("order"), order: fc.record({ catalog_id: numbered("c") }) }),
  fc.record({
    type: fc.constant("system"),
    system: fc.record({ type: fc.constantFrom("user_changed_number", "user_changed_user_id"), wa_id: phone, user_id: person, body: words }),
  }),
)
const whatsappMessage = fc
  .tuple(
    fc.record({
      id: numbered("wamid."),
      from: some(phone),
      from_user_id: some(person),
      timestamp: number.map(String),
      group_id: fc.option(numbered("group-"), { nil: undefined, freq: 5 }),
      context: some(fc.record({ id: numbered("wamid.") })),
    }),
    whatsappContent,
  )
  .map(([fields, content]) => ({ ...fields, ...content }))
const whatsappContact = fc.record({
  wa_id: some(phone),
  user_id: some(person),
  profile: fc.record({ name: words, username: some(numbered("user")) }),
})
const whatsappStatus = fc.record({
  id: numbered("wamid."),
  status: fc.constantFrom("sent", "delivered", "read", "played", "failed"),
  recipient_id: some(phone),
  biz_opaque_callback_data: some(numbered("01890000-0000-7000-8000-000000000001-")),
  errors: some(fc.array(fc.record({ code: number, title: words }), { maxLength: 2 })),
})
const whatsappMetadata = fc.record({ phone_number_id: accountOf("whatsapp-business") })
const whatsappMessages = fc.record({
  field: fc.constant("messages"),
  value: fc.record({
    messaging_product: fc.constant("whatsapp"),
    metadata: whatsappMetadata,
    contacts: some(items(whatsappContact)),
    messages: some(items(whatsappMessage)),
    statuses: some(items(whatsappStatus)),
  }),
})
const whatsappEcho = fc.tuple(whatsappMessage, phone).map(([{ from, ...message }, to]) => ({ ...message, to }))
const whatsappEchoes = fc.record({
  field: fc.constant("smb_message_echoes"),
  value: fc.record({ metadata: whatsappMetadata, message_echoes: items(whatsappEcho) }),
})
const whatsappChange = fc.oneof({ arbitrary: whatsappMessages, weight: 8 }, { arbitrary: whatsappEchoes, weight: 1 })
const whatsapp = fc.record({
  object: fc.constant("whatsapp_business_account"),
  entry: fc.array(fc.record({ id: number, changes: fc.array(whatsappChange, { minLength: 1, maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 2,
  }),
})

const attachment = fc.record({
  type: fc.constantFrom("image", "file", "sticker", "share", "ig_reel", "story_mention", "unknown", "location"),
  payload: fc.record({ url: fc.constantFrom("http://127.0.0.1:9/a.png", "not a URL", ""), sticker_id: some(number) }),
})
const metaContent = fc.oneof(
  fc.record({
    message: fc.record({
      mid: numbered("mid."),
      text: some(words),
      attachments: some(fc.array(attachment, { maxLength: 3 })),
      reply_to: some(fc.record({ mid: numbered("mid."), story: some(fc.record({ url: words })) })),
      is_echo: fc.option(fc.boolean(), { nil: undefined, freq: 5 }),
      is_deleted: fc.option(fc.boolean(), { nil: undefined, freq: 5 }),
      metadata: some(numbered("01890000-0000-7000-8000-000000000001-")),
    }),
  }),
  fc.record({ postback: fc.record({ mid: numbered("mid."), title: words }) }),
  fc.record({ message_edit: fc.record({ mid: numbered("mid."), text: words, num_edit: number }) }),
  fc.record({ delivery: fc.record({ mids: some(fc.array(numbered("mid."), { maxLength: 3 })), watermark: some(number) }) }),
  fc.record({ read: fc.record({ mid: some(numbered("mid.")), watermark: some(number) }) }),
)
const meta = (messenger: "messenger" | "instagram", object: string) => {
  const account = accountOf(messenger)
  const messaging = fc
    .tuple(fc.record({ sender: fc.record({ id: numbered("psid-") }), recipient: fc.record({ id: account }) }), metaContent)
    .map(([fields, content]) => ({ ...fields, ...content }))
  const entry = fc.record({ id: account, messaging: items(messaging) })
  return fc.record({ object: fc.constant(object), entry: fc.array(entry, { minLength: 1, maxLength: 2 }) })
}

const bridgeContent = fc.record({
  messageId: numbered("m-"),
  chat: fc.record({
    externalId: numbered("customer-"),
    name: some(words),
    username: some(numbered("user")),
    phoneNumber: some(phone),
    chatType: some(fc.constantFrom("private", "group", null)),
  }),
  text: some(words),
  media: some(fc.array(fc.record({ url: fc.constant("http://127.0.0.1:9/a.png"), filename: some(words) }), { maxLength: 3 })),
  replyToMessageId: some(numbered("m-")),
})
const bridge = fc.oneof(
  { arbitrary: bridgeContent, weight: 6 },
  { arbitrary: bridgeContent.map((content) => ({ ...content, event: "echo" })), weight: 1 },
  { arbitrary: fc.record({ event: fc.constantFrom("edit", "delete"), messageId: numbered("m-"), text: some(words) }), weight: 2 },
  {
    arbitrary: fc.record({
      event: fc.constant("receipt"),
      messageId: some(numbered("m-")),
      externalId: some(numbered("m-")),
      status: fc.constantFrom("delivered", "read", "failed"),
      error: some(words),
    }),
    weight: 2,
  },
)

/** What each messenger's vendor sends to a hook: right, or with hostile values anywhere. */
export const hookBodies: Record<SigningMessenger, Arbitrary<unknown>> = {
  "telegram-bot": item(telegram),
  "whatsapp-business": request(whatsapp),
  messenger: request(meta("messenger", "page")),
  instagram: request(meta("instagram", "instagram")),
  "custom-messenger": item(bridge),
}
