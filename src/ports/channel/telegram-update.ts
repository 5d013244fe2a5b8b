import { z } from "zod"
import type { ChannelChat, Event, Incoming, IncomingFile, IncomingMessage } from "../channel.js"

const file = z.object({ file_id: z.string(), file_name: z.string().optional() })
const point = z.object({ latitude: z.number(), longitude: z.number() })
const person = z.object({
  id: z.number(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
})
const chatFields = person.extend({
  type: z.enum(["private", "group", "supergroup", "channel"]),
  title: z.string().optional(),
  username: z.string().optional(),
})
const placed = z.object({ message_id: z.number(), chat: chatFields })

/** The fields of a message that are read. Others are kept, since an unknown kind of message is named by its field. */
const messageFields = placed.loose().extend({
  from: person.optional(),
  sender_chat: chatFields.optional(),
  edit_date: z.number().optional(),
  is_automatic_forward: z.boolean().optional(),
  reply_to_message: z.object({ message_id: z.number() }).optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  photo: z.array(file).min(1).optional(),
  video: file.optional(),
  video_note: file.optional(),
  animation: file.optional(),
  audio: file.optional(),
  voice: file.optional(),
  document: file.optional(),
  sticker: file.extend({ emoji: z.string().optional(), is_animated: z.boolean().optional() }).optional(),
  location: point.optional(),
  venue: z.object({ location: point, title: z.string(), address: z.string().optional() }).optional(),
  contact: z
    .object({
      phone_number: z.string(),
      first_name: z.string(),
      last_name: z.string().optional(),
      user_id: z.number().optional(),
    })
    .optional(),
  migrate_to_chat_id: z.number().optional(),
  migrate_from_chat_id: z.number().optional(),
})
type TelegramMessage = z.infer<typeof messageFields>
type Person = z.infer<typeof person>

const updateFields = z.object({
  update_id: z.number(),
  message: messageFields.optional(),
  edited_message: messageFields.optional(),
  callback_query: z.object({ id: z.string(), from: person, data: z.string().optional(), message: placed.optional() }).optional(),
})

/** The kinds of updates that are asked for. */
export const allowedUpdates = ["message", "edited_message", "callback_query"] as const

/** Fields of a message that are objects, and are not its content. */
const surroundings =
  /^(from|chat|entities|caption_entities|quote|via_bot|reply_\w+|external_reply|link_preview_options|forward_origin|sender_\w+|receiver_user|guest_bot_\w+|direct_messages_topic|suggested_post_info)$/

/** Service messages that have an object as their field: what happened in a chat, not what somebody wrote. */
const service =
  /^(new_chat_\w+|left_chat_member|pinned_message|message_auto_delete_timer_changed|(users|chat)_shared|write_access_allowed|passport_data|proximity_alert_triggered|boost_added|chat_background_set|web_app_data|managed_bot_created|(successful|refunded)_payment|giveaway_(created|completed)|\w*gift\w*|(checklist_tasks|poll_option|chat_owner|community_chat|suggested_post|general_forum_topic|forum_topic|video_chat)_\w+|(paid|direct)_message_price_changed)$/

/** What an update reports about chats; nothing when it cannot be read. */
export function eventsOf(body: unknown): Event[] {
  const { success, data } = updateFields.safeParse(body)
  if (!success) return []
  const { message, edited_message: edited, callback_query: tap } = data
  const items = message ? ofMessage(message, data.update_id) : edited ? ofEdit(edited) : tap ? ofTap(tap) : []
  return items.map((item) => ({ account: null, item }))
}

const identified = z.object({ update_id: z.int() })

/** The ID of an update, by which the next ones are asked for; null when it has none. */
export const updateIdOf = (body: unknown) => identified.safeParse(body).data?.update_id ?? null

function ofMessage(message: TelegramMessage, updateId: number): Incoming[] {
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message
  if (to !== undefined) return [{ kind: "moved", from: String(chat.id), to: String(to) }]
  if (from !== undefined) return [{ kind: "moved", from: String(from), to: String(chat.id) }]
  const content = contentOf(message)
  if (!content || chat.type === "channel" || message.is_automatic_forward) return []
  return [
    {
      kind: "message",
      chat: chatOf(message),
      // An ephemeral message has no ID of its own.
      externalId: message.message_id > 0 ? String(message.message_id) : `update-${updateId}`,
      ...content,
      quoted: message.reply_to_message ? String(message.reply_to_message.message_id) : null,
      sender: senderOf(message),
      ...(message.from?.is_bot && !message.sender_chat && { isAutomatic: true }),
    },
  ]
}

function ofEdit(message: TelegramMessage): Incoming[] {
  const content = contentOf(message)
  if (!content || message.chat.type === "channel" || message.message_id <= 0) return []
  const { edit_date: version } = message
  const externalId = String(message.message_id)
  return [{ kind: "edit", chat: chatOf(message), externalId, text: content.text ?? "", ...(version !== undefined && { version }) }]
}

/** A tap on a button of a message: its text is the button's data. */
function ofTap({ id, from, data, message }: NonNullable<z.infer<typeof updateFields>["callback_query"]>): IncomingMessage[] {
  if (!message || data === undefined || message.chat.type === "channel") return []
  return [
    {
      kind: "message",
      chat: chatOf(message),
      externalId: `callback-${id}`,
      text: data,
      files: [],
      quoted: String(message.message_id),
      sender: senderOf({ chat: message.chat, from }),
      acknowledge: id,
    },
  ]
}

function contentOf(message: TelegramMessage): Pick<IncomingMessage, "text" | "files" | "isUnsupported"> | null {
  const files = filesOf(message)
  const text = message.text ?? message.caption ?? describe(message)
  if (text !== null || files.length > 0) return { text, files }
  const kind = Object.keys(message).find((name) => typeof message[name] === "object" && !surroundings.test(name))
  if (!kind || service.test(kind)) return null
  return { text: `[unsupported: ${kind}]`, files, isUnsupported: true }
}

function filesOf({ photo, animation, document, ...message }: TelegramMessage): IncomingFile[] {
  const { video, video_note, audio, voice, sticker } = message
  const named: [kind: string, found: z.infer<typeof file> | undefined][] = [
    // Sizes of one picture; the last is the largest.
    ["photo", photo?.at(-1)],
    ["video", video],
    ["video message", video_note],
    ["audio", audio],
    ["voice message", voice],
    // An animation is there twice, the second time as a document.
    ["animation", animation],
    ["document", animation ? undefined : document],
    // An animated sticker is no picture, but a program that Telegram's apps alone can draw.
    ["sticker", sticker?.is_animated ? undefined : sticker],
  ]
  return named.flatMap(([kind, found]) => (found ? [{ kind, reference: found.file_id, filename: found.file_name ?? null }] : []))
}

/** What has no text of its own, in words. */
function describe({ sticker, venue, location, contact }: TelegramMessage): string | null {
  if (sticker) return sticker.emoji ? `[sticker ${sticker.emoji}]` : "[sticker]"
  if (venue) return place(venue.location, [venue.title, venue.address])
  if (location) return place(location)
  if (contact) return `[contact] ${[nameOf(contact), phoneOf(contact.phone_number)].filter(Boolean).join(", ")}`
  return null
}

const place = ({ latitude, longitude }: z.infer<typeof point>, names: (string | undefined)[] = []) =>
  `[location] ${[latitude, longitude, ...names.filter(Boolean)].join(", ")}`

function chatOf({ chat, ...message }: Pick<TelegramMessage, "chat"> & Partial<Pick<TelegramMessage, "from" | "contact">>): ChannelChat {
  const externalId = String(chat.id)
  const username = chat.username ?? null
  if (chat.type !== "private") return { externalId, name: chat.title ?? null, username, isGroup: true }
  const { contact, from } = message
  const own = contact && contact.user_id !== undefined && contact.user_id === from?.id
  return { externalId, name: nameOf(chat), username, isGroup: false, ...(own && { phoneNumber: phoneOf(contact.phone_number) }) }
}

/** The member of a group who wrote; a chat that writes under its own name, such as an anonymous administrator, comes first. */
function senderOf({ chat, from, sender_chat }: Pick<TelegramMessage, "chat" | "from"> & Partial<Pick<TelegramMessage, "sender_chat">>) {
  if (chat.type === "private") return null
  if (sender_chat) return { externalId: String(sender_chat.id), name: sender_chat.title ?? nameOf(sender_chat) }
  return from ? { externalId: String(from.id), name: nameOf(from) } : null
}

const nameOf = ({ first_name, last_name }: Pick<Person, "first_name" | "last_name">) =>
  [first_name, last_name].filter(Boolean).join(" ") || null

/** Telegram leaves out the `+` in most countries. */
const phoneOf = (number: string) => `+${number.replace(/\D/g, "")}`
